#include "Listener.h"

namespace cwebm {

using webm::Action;
using webm::ElementMetadata;
using webm::Id;
using webm::Status;

namespace {

constexpr std::uint64_t kLatestClusterTime = std::uint64_t{1} << 53;

Status Completed() { return Status(Status::kOkCompleted); }

/// Returns whether Matroska allows an unknown size of an element, for live recorders (RFC 9559, 26.3.1 and 26.3.2).
bool MayHaveUnknownSize(Id id) { return id == Id::kSegment || id == Id::kCluster; }

/// Returns whether the contents of an element are not needed.
bool IsNotNeeded(Id id) {
  switch (id) {
    case Id::kVoid:
    case Id::kSeekHead:
    case Id::kCues:
    case Id::kChapters:
    case Id::kTags:
    case Id::kBlockAdditions:
    case Id::kBlockVirtual:
    case Id::kSlices:
      return true;
    default:
      return false;
  }
}

/// Returns the maximum size of an element that is read. Blocks have another limit, and elements that libwebm passes on in
/// parts need none.
std::uint64_t LargestSize(Id id) {
  switch (id) {
    case Id::kSegment:
    case Id::kTracks:
    case Id::kCluster:
    case Id::kSimpleBlock:
    case Id::kBlock:
      return UINT64_MAX;
    case Id::kBlockGroup:
      return CWEBM_LARGEST_FRAME + CWEBM_LARGEST_ELEMENT;
    default:
      return CWEBM_LARGEST_ELEMENT;
  }
}

/// Returns whether an element can follow the tracks of a file: within or after a cluster (RFC 9559, 5.1.3).
bool CanFollowTracks(Id id) {
  switch (id) {
    case Id::kVoid:
    case Id::kSeekHead:
    case Id::kInfo:
    case Id::kTracks:
    case Id::kCues:
    case Id::kChapters:
    case Id::kTags:
    case Id::kTimecode:
    case Id::kPrevSize:
    case Id::kBlock:
    case Id::kBlockVirtual:
    case Id::kBlockAdditions:
    case Id::kBlockDuration:
    case Id::kReferenceBlock:
    case Id::kDiscardPadding:
    case Id::kSlices:
      return true;
    default:
      break;
  }
  switch (static_cast<std::uint32_t>(id)) {
    case 0x1941A469:  // Attachments
    case 0xBF:        // CRC-32
    case 0xA7:        // Position
    case 0x5854:      // SilentTracks
    case 0xAF:        // EncryptedBlock
    case 0xA4:        // CodecState
    case 0xFA:        // ReferencePriority
      return true;
    default:
      return false;
  }
}

/// Returns whether libwebm supports an element; it skips those that it does not support.
bool IsKnown(Id id) {
  switch (static_cast<std::uint32_t>(id)) {
    case 0x1941A469:  // Attachments
    case 0xBF:        // CRC-32
      return false;
    default:
      return true;
  }
}

}  // namespace

Status Listener::Refuse(cwebm_problem_kind kind, std::int64_t detail, std::uint64_t position) {
  problem_ = {kind, detail, position};
  return Status(kRefused);
}

/// Stops the parser. When parsing resumes, libwebm repeats the callback, which then continues.
Status Listener::Stop(cwebm_event event, bool *told) {
  if (*told) return Completed();
  *told = true;
  event_ = event;
  return Status(kStopped);
}

Status Listener::OnElementBegin(const ElementMetadata &metadata, Action *action) {
  *action = Action::kRead;
  if (!began_) {
    if (metadata.id != Id::kEbml) return Refuse(CWEBM_PROBLEM_NOT_WEBM, 0, metadata.position);
    began_ = true;
  } else if (metadata.id == Id::kEbml) {
    return Refuse(CWEBM_PROBLEM_SECOND_SEGMENT, 0, metadata.position);
  }
  if (metadata.id == Id::kSegment) {
    if (has_segment_) return Refuse(CWEBM_PROBLEM_SECOND_SEGMENT, 0, metadata.position);
    has_segment_ = true;
  }

  if (metadata.id == Id::kCluster || metadata.id == Id::kSimpleBlock || metadata.id == Id::kBlockGroup) {
    last_position_ = metadata.position;
    if (metadata.id == Id::kCluster) {
      // libwebm would skip a cluster within another one, whose size is wrong then.
      if (refuses_unknown_ && metadata.position < cluster_end_) {
        --last_position_;
        cluster_end_ = 0;
        return Refuse(CWEBM_PROBLEM_MALFORMED, Status::kElementOverflow, metadata.position);
      }
      const bool is_sized = metadata.size != webm::kUnknownElementSize;
      cluster_end_ = is_sized ? metadata.position + metadata.header_size + metadata.size : 0;
    }
  } else if (refuses_unknown_ && !tracks_.empty() && metadata.position >= tracks_end_ && !CanFollowTracks(metadata.id)) {
    return Refuse(CWEBM_PROBLEM_MALFORMED, Status::kInvalidElementId, metadata.position);
  }

  if (metadata.id == Id::kTracks && metadata.size != webm::kUnknownElementSize) {
    tracks_end_ = metadata.position + metadata.header_size + metadata.size;
  }

  if (metadata.size == webm::kUnknownElementSize) {
    if (MayHaveUnknownSize(metadata.id)) return Completed();
    return Refuse(CWEBM_PROBLEM_UNKNOWN_SIZE, 0, metadata.position);
  }
  if (IsNotNeeded(metadata.id)) {
    *action = Action::kSkip;
  } else if (IsKnown(metadata.id) && metadata.size > LargestSize(metadata.id)) {
    return Refuse(CWEBM_PROBLEM_LARGE_ELEMENT, static_cast<std::int64_t>(metadata.size), metadata.position);
  }
  return Completed();
}

Status Listener::OnEbml(const ElementMetadata &metadata, const webm::Ebml &ebml) {
  const std::string &type = ebml.doc_type.value();
  if (type != "webm" && type != "matroska") return Refuse(CWEBM_PROBLEM_NOT_WEBM, 0, metadata.position);
  return Completed();
}

Status Listener::OnInfo(const ElementMetadata &, const webm::Info &info) {
  time_unit_ = info.timecode_scale.value();
  return Completed();
}

Status Listener::OnTrackEntry(const ElementMetadata &metadata, const webm::TrackEntry &track) {
  if (tracks_.size() >= CWEBM_MOST_TRACKS) return Refuse(CWEBM_PROBLEM_MANY_TRACKS, 0, metadata.position);
  tracks_.push_back(track);
  return Completed();
}

Status Listener::OnClusterBegin(const ElementMetadata &metadata, const webm::Cluster &cluster, Action *action) {
  *action = Action::kRead;
  if (!cluster.timecode.is_present() || cluster.timecode.value() > kLatestClusterTime) {
    return Refuse(CWEBM_PROBLEM_CLUSTER_TIME, 0, metadata.position);
  }
  cluster_time_ = static_cast<std::int64_t>(cluster.timecode.value());
  blocks_in_cluster_ = 0;
  return Stop(CWEBM_EVENT_HEADER, &header_told_);
}

Status Listener::BeginBlock(const ElementMetadata &metadata, const webm::Block &block, Action *action) {
  // libwebm stores the header of every block until the end of the cluster.
  if (++blocks_in_cluster_ > CWEBM_MOST_BLOCKS) return Refuse(CWEBM_PROBLEM_MANY_BLOCKS, 0, metadata.position);

  // A block header that is longer than its block would make libwebm skip nearly 2^64 bytes.
  const std::uint64_t header = reader_.Position() - metadata.position - metadata.header_size;
  if (header >= metadata.size) return Refuse(CWEBM_PROBLEM_MALFORMED, Status::kInvalidElementSize, metadata.position);

  Reset();
  if (selected_ == 0 || block.track_number != selected_) {
    *action = Action::kSkip;
    return Completed();
  }
  *action = Action::kRead;
  block_.track = block.track_number;
  block_.time = cluster_time_ + block.timecode;
  block_.duration = -1;
  block_.position = metadata.position;
  return Completed();
}

Status Listener::OnSimpleBlockBegin(const ElementMetadata &metadata, const webm::SimpleBlock &block, Action *action) {
  return BeginBlock(metadata, block, action);
}

Status Listener::OnBlockBegin(const ElementMetadata &metadata, const webm::Block &block, Action *action) {
  return BeginBlock(metadata, block, action);
}

Status Listener::OnFrame(const webm::FrameMetadata &metadata, webm::Reader *reader, std::uint64_t *remaining) {
  const std::size_t start = bytes_.size();
  if (metadata.size > CWEBM_LARGEST_FRAME - start) {
    return Refuse(CWEBM_PROBLEM_LARGE_FRAME, static_cast<std::int64_t>(start + metadata.size), metadata.position);
  }
  if (metadata.size > 0) {
    bytes_.resize(start + static_cast<std::size_t>(metadata.size));
    std::uint64_t done = 0;
    const Status status = reader->Read(bytes_.size() - start, bytes_.data() + start, &done);
    *remaining -= done;
    if (!status.completed_ok()) return status;
  }
  ends_.push_back(bytes_.size());
  return Completed();
}

Status Listener::OnSimpleBlockEnd(const ElementMetadata &, const webm::SimpleBlock &) {
  return ends_.empty() ? Completed() : Stop(CWEBM_EVENT_FRAME, &block_told_);
}

Status Listener::OnBlockGroupEnd(const ElementMetadata &metadata, const webm::BlockGroup &group) {
  // A group without a block must not return the block before it again.
  if (ends_.empty() || block_.position < metadata.position) return Completed();
  if (group.duration.is_present() && group.duration.value() <= INT32_MAX) {
    block_.duration = static_cast<std::int64_t>(group.duration.value());
  }
  return Stop(CWEBM_EVENT_FRAME, &block_told_);
}

void Listener::Restart() {
  cluster_end_ = 0;
  Reset();
}

void Listener::Reset() {
  block_ = {};
  block_told_ = false;
  bytes_.clear();
  ends_.clear();
  lace_ = 0;
}

bool Listener::NextLace() {
  if (!block_told_ || lace_ + 1 >= ends_.size()) return false;
  ++lace_;
  return true;
}

cwebm_frame Listener::frame() const {
  cwebm_frame frame = block_;
  if (lace_ >= ends_.size()) return frame;
  const std::size_t start = lace_ == 0 ? 0 : ends_[lace_ - 1];
  frame.lace = lace_;
  frame.bytes = bytes_.data() + start;
  frame.size = ends_[lace_] - start;
  return frame;
}

}  // namespace cwebm
