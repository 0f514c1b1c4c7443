#ifndef CWEBM_LISTENER_H
#define CWEBM_LISTENER_H

#include <webm/callback.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "DescriptorReader.h"
#include "include/CWebM.h"

namespace cwebm {

/// Receives libwebm's callbacks: stores the tracks and the current frame, stops the parser at each event, and rejects
/// elements that would need unbounded memory.
class Listener : public webm::Callback {
 public:
  explicit Listener(const DescriptorReader &reader) : reader_(reader) {}

  /// The statuses that stop the parser. After `kStopped`, parsing can resume.
  static constexpr std::int32_t kStopped = 1;
  static constexpr std::int32_t kRefused = 3;

  /// The event at which the parser was stopped; set whenever it returns `kStopped`.
  cwebm_event event() const { return event_; }
  const cwebm_problem &problem() const { return problem_; }
  const std::vector<webm::TrackEntry> &tracks() const { return tracks_; }
  std::uint64_t time_unit() const { return time_unit_; }
  cwebm_frame frame() const;
  /// Continues with the next frame of a laced block. Returns false if there is none.
  bool NextLace();
  void select(std::uint64_t track) { selected_ = track; }
  /// Whether the tracks are known.
  bool has_tracks() const { return !tracks_.empty(); }
  /// Whether elements that libwebm does not know are refused within clusters. In what a recorder of this program wrote there are none.
  void set_refuses_unknown(bool refuses) { refuses_unknown_ = refuses; }
  /// The position of the last cluster or block that began.
  std::uint64_t last_position() const { return last_position_; }
  /// Forgets the block and the cluster that were not read to their ends.
  void Restart();

  webm::Status OnElementBegin(const webm::ElementMetadata &metadata, webm::Action *action) override;
  webm::Status OnEbml(const webm::ElementMetadata &metadata, const webm::Ebml &ebml) override;
  webm::Status OnInfo(const webm::ElementMetadata &metadata, const webm::Info &info) override;
  webm::Status OnTrackEntry(const webm::ElementMetadata &metadata, const webm::TrackEntry &track) override;
  webm::Status OnClusterBegin(
      const webm::ElementMetadata &metadata, const webm::Cluster &cluster, webm::Action *action) override;
  webm::Status OnSimpleBlockBegin(
      const webm::ElementMetadata &metadata, const webm::SimpleBlock &block, webm::Action *action) override;
  webm::Status OnSimpleBlockEnd(const webm::ElementMetadata &metadata, const webm::SimpleBlock &block) override;
  webm::Status OnBlockBegin(
      const webm::ElementMetadata &metadata, const webm::Block &block, webm::Action *action) override;
  webm::Status OnBlockGroupEnd(const webm::ElementMetadata &metadata, const webm::BlockGroup &group) override;
  webm::Status OnFrame(const webm::FrameMetadata &metadata, webm::Reader *reader, std::uint64_t *remaining) override;

 private:
  webm::Status Refuse(cwebm_problem_kind kind, std::int64_t detail, std::uint64_t position);
  webm::Status BeginBlock(const webm::ElementMetadata &metadata, const webm::Block &block, webm::Action *action);
  void Reset();
  webm::Status Stop(cwebm_event event, bool *told);

  const DescriptorReader &reader_;
  cwebm_event event_ = CWEBM_EVENT_END;
  cwebm_problem problem_ = {CWEBM_PROBLEM_NONE, 0, 0};

  bool began_ = false;
  bool has_segment_ = false;
  bool refuses_unknown_ = false;
  std::uint64_t last_position_ = 0;
  std::vector<webm::TrackEntry> tracks_;
  std::uint64_t time_unit_ = 1000000;
  std::uint64_t selected_ = 0;

  bool header_told_ = false;
  std::int64_t cluster_time_ = 0;
  std::uint64_t cluster_end_ = 0;
  std::uint64_t tracks_end_ = 0;
  std::uint32_t blocks_in_cluster_ = 0;

  /// The current block: the properties that its frames share, their bytes in sequence, and the end of each frame.
  cwebm_frame block_ = {};
  bool block_told_ = false;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::size_t> ends_;
  std::size_t lace_ = 0;
};

}  // namespace cwebm

#endif
