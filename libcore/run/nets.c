#include "run/nets.h"

#include "base/log.h"
#include "base/mem.h"
#include "run/materials.h"
#include "run/shapes.h"
#include "shape/superellipsoid.h"

static int64_t shape_id(int64_t i) {
  return -2 - TL_SHAPES_MOST - i;
}

static TlStatus make(TlNets *nets, const TlSetup *setup, const TlStudy *study, int64_t i) {
  enum { NODES = 60 };
  TlNet *net = &nets->net[i];
  bool any_step = tl_setup_method(setup)->implicit_bonds;
  TL_TRY(tl_net_setup_make(&setup->nets, i, any_step ? 0 : setup->time.dt_s,
                           tl_setup_choice(setup).mass_scale, study, net));
  net->first_id = i == 0 ? TL_NET_FIRST_ID : net[-1].first_id + tl_net_spheres(&net[-1]);
  net->shape_id = shape_id(i);
  net->material = tl_material_of_net(setup, i);
  net->bond_law = (int32_t)i;
  TL_TRY(tl_avatar_sphere(net->radius_m, net->radius_m / 5, NODES, &nets->avatar[i]));
  nets->avatar[i].id = net->shape_id;
  tl_log_info("net %lld: %d layer%s of %d rows of %d spheres of %.4g kg; explicit steps of its "
              "springs are stable below %.4g s%s",
              (long long)i, net->layers, net->layers > 1 ? "s" : "", net->rows, net->columns,
              net->mass_kg, tl_net_stable_step(net),
              any_step ? ", which does not bind this method" : "");
  return TL_OK;
}

TlStatus tl_nets_open(TlNets *nets, const TlSetup *setup, const TlStudy *study) {
  *nets = (TlNets){0};
  TL_TRY(TL_NEW(nets->net, (size_t)setup->nets.count));
  TL_TRY(TL_NEW(nets->avatar, (size_t)setup->nets.count));
  for (int64_t i = 0; i < setup->nets.count; i++) {
    nets->count++;
    TL_TRY(make(nets, setup, study, i));
  }
  return TL_OK;
}

void tl_nets_close(TlNets *nets) {
  for (int64_t i = 0; i < nets->count; i++) tl_avatar_free(&nets->avatar[i]);
  tl_free(nets->avatar);
  tl_free(nets->net);
  *nets = (TlNets){0};
}

TlStatus tl_nets_make(const TlNets *nets, TlComm *comm, TlBodies *bodies) {
  int64_t me = tl_comm_rank(comm), ranks = tl_comm_size(comm);
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < nets->count; i++) {
    int64_t n = tl_net_spheres(&nets->net[i]);
    status = tl_net_add(&nets->net[i], bodies, n * me / ranks, n * (me + 1) / ranks);
  }
  tl_pair_state_sort(&bodies->pairs);
  return tl_comm_agree(comm, status);
}

TlStatus tl_nets_register(const TlNets *nets, TlModel *model) {
  return nets->count ? tl_model_set_nets(model, nets->net, (int)nets->count) : TL_OK;
}

const TlAvatar *tl_nets_avatar(const TlNets *nets, int64_t id) {
  int64_t i = -2 - TL_SHAPES_MOST - id;
  return i >= 0 && i < nets->count ? &nets->avatar[i] : NULL;
}

int64_t tl_nets_spheres(const TlNets *nets) {
  int64_t n = 0;
  for (int64_t i = 0; i < nets->count; i++) n += tl_net_spheres(&nets->net[i]);
  return n;
}
