//go:build ros

package rclgo

// #include <dlfcn.h>
// #include <rmw/rmw.h>
// #include <string.h>
//
// // Asks Cyclone for the GUID of the writer with a handle: one of this process, or one that a reader of this process
// // hears. What is called is of its public interface; there are no headers, since a machine may have another rmw only.
// static bool cyclone_guid(uint32_t domain, uint64_t handle, uint8_t guid[16]) {
//   void *lib = dlopen("librmw_cyclonedds_cpp.so", RTLD_LAZY | RTLD_NOLOAD); // and what it depends on
//   if (lib == NULL) return false;
//   int32_t (*participants_of)(uint32_t, int32_t *, size_t) = dlsym(lib, "dds_lookup_participant");
//   int32_t (*children_of)(int32_t, int32_t *, size_t) = dlsym(lib, "dds_get_children");
//   int32_t (*handle_of)(int32_t, uint64_t *) = dlsym(lib, "dds_get_instance_handle");
//   int32_t (*guid_of)(int32_t, uint8_t *) = dlsym(lib, "dds_get_guid");
//   void *(*writer_of)(int32_t, uint64_t) = dlsym(lib, "dds_get_matched_publication_data");
//   void (*release)(void *) = dlsym(lib, "dds_builtintopic_free_endpoint");
//   bool found = false;
//   if (participants_of && children_of && handle_of && guid_of && writer_of && release) {
//     enum { max = 256 };
//     int32_t participants[max], groups[max], ends[max];
//     const int32_t np = participants_of(domain, participants, max);
//     for (int32_t p = 0; p < np && p < max && !found; p++) {
//       const int32_t ng = children_of(participants[p], groups, max); // a publisher and a subscriber among them
//       for (int32_t g = 0; g < ng && g < max && !found; g++) {
//         const int32_t ne = children_of(groups[g], ends, max);
//         for (int32_t e = 0; e < ne && e < max && !found; e++) {
//           uint64_t own;
//           void *heard;
//           if (handle_of(ends[e], &own) >= 0 && own == handle) {
//             found = guid_of(ends[e], guid) >= 0;
//           } else if ((heard = writer_of(ends[e], handle)) != NULL) { // a dds_builtintopic_endpoint_t
//             memcpy(guid, heard, 16);                                 // begins with the GUID
//             release(heard);
//             found = true;
//           }
//         }
//       }
//     }
//   }
//   dlclose(lib);
//   return found;
// }
import "C"

import (
	"encoding/binary"

	"robot_link/ros2_ws/src/robot_link_bridge/rosbus/driver"
)

// gids makes of rmw's GIDs those of the graph. They are the same, but with Humble's rmw_cyclonedds: there a
// publisher and what it sends have Cyclone's handle for it in this process, and the graph has its GUID.
type gids struct {
	cyclone bool
	domain  int
	known   map[uint64]driver.GID // by Cyclone's handle, which is never used again
}

func newGIDs(domain int) gids {
	return gids{domain: domain, cyclone: C.GoString(C.rmw_get_implementation_identifier()) == "rmw_cyclonedds_cpp"}
}

func (g *gids) of(rmw *C.rmw_gid_t) (gid driver.GID) {
	for i := range gid {
		gid[i] = byte(rmw.data[i])
	}
	if !g.cyclone {
		return gid
	}
	handle := binary.NativeEndian.Uint64(gid[:])
	gid, ok := g.known[handle]
	if ok {
		return gid
	}
	var guid [16]C.uint8_t // zero if not found
	C.cyclone_guid(C.uint32_t(g.domain), C.uint64_t(handle), &guid[0])
	for i, b := range guid {
		gid[i] = byte(b)
	}
	if g.known == nil || len(g.known) >= 1000 { // publishers that came and went
		g.known = map[uint64]driver.GID{}
	}
	g.known[handle] = gid
	return gid
}
