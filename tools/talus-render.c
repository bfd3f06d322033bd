/* talus-render: pictures of a run's frames, and plots of its measures. */
#include "stage/results.h"

static TlStatus run(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_render(&stage, call->values));
}

static const TlTool tool = {
    .name = "talus-render",
    .purpose = "Draw pictures of a run's frames, or plots of its measures",
    .arguments = "RUN",
    .description =
        "RUN is a folder of results. The grains are drawn as the level sets that the solver uses,\n"
        "the terrain as its heightfield with contour lines, by marching rays on the CPU: no\n"
        "display is needed. The camera finds its place by itself: at three quarters from the side\n"
        "to which the grains move. The scale bar holds in the middle of the picture's depth.\n"
        "Colours keep their meaning from frame to frame: rotation, strain and the forces of "
        "chains\n"
        "end where 98 of a hundred lie below in the run's last frame, unless --colour-high says.\n"
        "The picture is a PNG, or a JPEG where the name after -o ends in .jpg or .jpeg.\n"
        "\n"
        "With --chains the contacts' normal forces are drawn in place of the grains: a tube from\n"
        "centre to centre, or to the contact point on a boundary, a net or a platen. Its "
        "thickness\n"
        "is the force, as the wedge beside the scale shows; links of the force chains that\n"
        "talus-measure --packing counts have its colour, the others are grey. The study must have\n"
        "kept contacts (frames: {contacts: true}).\n"
        "\n"
        "With --cut what lies before a vertical plane is left out and grains show their section;\n"
        "tubes of --chains stay whole, where their middle lies behind it.\n"
        "\n"
        "With --plots: PNG plots of RUN/history.csv over time, each column in a panel of its own\n"
        "and the energies together, drawn by gnuplot.",
    .example =
        "  talus-render run --frame=last -o last.png\n"
        "  talus-render run --frame=all --colour=size --width=480 --height=360 -o pictures\n"
        "  talus-render run --chains --zoom=grains --view=-60,4 -o chains.png\n"
        "  talus-render run --colour=rotation --since=4 --cut=90 --zoom=grains -o turned.png\n"
        "  talus-render run --plots -o pictures",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_OUTPUT_FOLDER | TL_TAKES_JSON,
    .options = &tl_render_table,
    .run = run,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
