#include "post/measure.h"

#include "base/mem.h"
#include "io/csv.h"

#include <math.h>

static TlStatus finish(TlCsv *csv, TlStatus status) {
  if (status == TL_OK) return tl_csv_commit(csv);
  tl_csv_abort(csv);
  return status;
}

static TlStatus begin(TlCsv *csv, const char *folder, const char *name, bool overwrite,
                      const char *header) {
  char *path = tl_path_join(folder, name);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_csv_begin(csv, path, overwrite, header);
  tl_free(path);
  return status;
}

static TlStatus write_frames(const TlMeasure *m, const char *folder, bool overwrite) {
  TlCsv csv;
  TL_TRY(begin(&csv, folder, "frames.csv", overwrite,
               "frame,step,time_s,grains,outside,mass_kg,translational_energy_J,"
               "rotational_energy_J,potential_energy_J,total_energy_J,centre_x_m,centre_y_m,"
               "centre_z_m,travel_m,drop_m,front_m,tail_m,width_m,mean_speed_m_s,max_speed_m_s,"
               "travel_angle_deg,reach_angle_deg,contacts_per_grain,grains_without_contact,gone,"
               "moving_mass_share,largest_pace,at_rest"));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < m->frame_count && status == TL_OK; i++) {
    const TlFrameMeasure *f = &m->frame[i];
    const double row[] = {(double)f->index,
                          (double)f->step,
                          f->time_s,
                          (double)f->bodies,
                          (double)f->outside,
                          f->mass_kg,
                          f->translational_J,
                          f->rotational_J,
                          f->potential_J,
                          f->translational_J + f->rotational_J + f->potential_J,
                          f->centre_m.x,
                          f->centre_m.y,
                          f->centre_m.z,
                          f->travel_m,
                          f->drop_m,
                          f->front_m,
                          f->tail_m,
                          f->width_m,
                          f->motion.mean_speed_m_s,
                          f->motion.max_speed_m_s,
                          f->travel_angle_deg,
                          f->reach_angle_deg,
                          f->contacts_per_grain,
                          (double)f->without_contact,
                          (double)f->gone,
                          f->motion.moving_fraction,
                          f->motion.largest_pace,
                          f->motion.bodies > 0 ? f->motion.at_rest : NAN};
    status = tl_csv_row(&csv, row, sizeof row / sizeof *row);
  }
  return finish(&csv, status);
}

static TlStatus write_grains(const TlMeasure *m, const char *folder, bool overwrite) {
  TlCsv csv;
  TL_TRY(begin(&csv, folder, "grains.csv", overwrite,
               "id,avatar,x_m,y_m,z_m,radius_m,speed_m_s,top_above_ground_m,penetration_m,"
               "penetration_share,contacts,outside,frozen"));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < m->grain_count && status == TL_OK; i++) {
    const TlGrainMeasure *g = &m->grain[i];
    double depth = g->judged || g->penetration_m > 0 ? g->penetration_m : NAN;
    const double row[] = {
        (double)g->id, (double)g->avatar_id, g->position_m.x,  g->position_m.y, g->position_m.z,
        g->radius_m,   g->speed_m_s,         g->top_m,         depth,           depth / g->radius_m,
        g->contacts,   g->flags & 1,         g->flags >> 1 & 1};
    status = tl_csv_row(&csv, row, sizeof row / sizeof *row);
  }
  return finish(&csv, status);
}

static TlStatus write_deposit(const TlDeposit *d, const char *folder, bool overwrite) {
  TlCsv csv;
  TL_TRY(begin(&csv, folder, "deposit.csv", overwrite,
               "x_m,y_m,ground_m,top_m,thickness_m,solid_thickness_m"));
  TlStatus status = TL_OK;
  for (int64_t c = 0; c < d->nx * d->ny && status == TL_OK; c++) {
    if (d->top_m[c] != d->top_m[c]) continue; /* no grain here */
    const double row[] = {d->x0_m + d->cell_m * (double)(c % d->nx),
                          d->y0_m + d->cell_m * (double)(c / d->nx),
                          d->ground_m[c],
                          d->top_m[c],
                          d->top_m[c] - d->ground_m[c],
                          d->solid_m[c]};
    status = tl_csv_row(&csv, row, sizeof row / sizeof *row);
  }
  return finish(&csv, status);
}

TlStatus tl_measure_write(const TlMeasure *m, const char *folder, bool overwrite) {
  TL_TRY(tl_dir_make(folder));
  TL_TRY(write_frames(m, folder, overwrite));
  TL_TRY(write_grains(m, folder, overwrite));
  return m->deposit.nx ? write_deposit(&m->deposit, folder, overwrite) : TL_OK;
}
