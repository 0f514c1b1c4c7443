#include "include/CWebM.h"

#include <webm/webm_parser.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "DescriptorReader.h"
#include "Listener.h"

struct cwebm_reader {
  cwebm_reader(int descriptor, uint64_t size)
      : source(descriptor, size), listener(source), parser(std::make_unique<webm::WebmParser>()) {}

  cwebm_event Next();
  bool Resume();

  cwebm::DescriptorReader source;
  cwebm::Listener listener;
  /// A new one after each seek: the state of one that failed is not known.
  std::unique_ptr<webm::WebmParser> parser;
  /// Whether the file has ended or was rejected; then every later call returns the same event.
  bool is_over = false;
  cwebm_event last = CWEBM_EVENT_END;
  cwebm_problem problem = {CWEBM_PROBLEM_NONE, 0, 0};

  /// The position from which the next cluster is searched for.
  uint64_t searched = 0;

 private:
  static bool IsCluster(const uint8_t *bytes);
  cwebm_event Finish(cwebm_event event);
  cwebm_event Fail(cwebm_problem_kind kind, int64_t detail);
};

cwebm_event cwebm_reader::Next() {
  if (is_over) return last;
  if (listener.NextLace()) return CWEBM_EVENT_FRAME;
  while (true) {
    const webm::Status status = parser->Feed(&listener, &source);
    switch (status.code) {
      case cwebm::Listener::kStopped:
        return listener.event();
      case webm::Status::kOkCompleted:
        return Finish(CWEBM_EVENT_END);
      case webm::Status::kOkPartial:
        continue;  // Does not occur, because the source never reads a part; harmless if it does.
      case webm::Status::kEndOfFile:
        return Finish(CWEBM_EVENT_TRUNCATED);
      case cwebm::Listener::kRefused:
        problem = listener.problem();
        return Finish(CWEBM_EVENT_PROBLEM);
      case cwebm::DescriptorReader::kFailed:
        return Fail(CWEBM_PROBLEM_READING, source.error());
      default:
        return Fail(CWEBM_PROBLEM_MALFORMED, status.code);
    }
  }
}

cwebm_event cwebm_reader::Finish(cwebm_event event) {
  is_over = true;
  last = event;
  return event;
}

cwebm_event cwebm_reader::Fail(cwebm_problem_kind kind, int64_t detail) {
  problem = {kind, detail, source.Position()};
  return Finish(CWEBM_EVENT_PROBLEM);
}

namespace {

constexpr uint8_t kClusterID[] = {0x1F, 0x43, 0xB6, 0x75};
/// The bytes of a cluster that are looked at: its id, its size, a checksum, and the id and size of its timestamp.
constexpr size_t kClusterStart = 4 + 8 + 6 + 1 + 8;
constexpr size_t kSearchedPart = 256 << 10;
constexpr uint64_t kUnknownSize = UINT64_MAX;

/// Reads an EBML size and moves on to what follows it. Returns false for bytes that are none.
bool ReadSize(const uint8_t **bytes, uint64_t *size) {
  const uint8_t first = **bytes;
  size_t length = 1;
  for (uint8_t bit = 0x80; bit != 0 && !(first & bit); bit >>= 1) ++length;
  if (length > 8) return false;
  *size = first & (0xFF >> length);
  bool is_unknown = *size == static_cast<uint64_t>(0xFF >> length);
  for (size_t index = 1; index < length; ++index) {
    *size = *size << 8 | (*bytes)[index];
    is_unknown = is_unknown && (*bytes)[index] == 0xFF;
  }
  if (is_unknown) *size = kUnknownSize;
  *bytes += length;
  return true;
}

}  // namespace

/// Returns whether bytes are the start of a cluster: its id, a size, and the timestamp. The file may end within it.
bool cwebm_reader::IsCluster(const uint8_t *bytes) {
  if (!std::equal(kClusterID, kClusterID + sizeof kClusterID, bytes)) return false;
  bytes += sizeof kClusterID;
  uint64_t size = 0;
  if (!ReadSize(&bytes, &size)) return false;
  // A checksum may be before the timestamp.
  if (bytes[0] == 0xBF && bytes[1] == 0x84) bytes += 6;
  if (*bytes++ != 0xE7) return false;
  return ReadSize(&bytes, &size) && size <= 8;
}

/// Continues at the next cluster after the last element that began.
bool cwebm_reader::Resume() {
  if (!listener.has_tracks() || (is_over && last == CWEBM_EVENT_END)) return false;
  if (is_over && last == CWEBM_EVENT_PROBLEM && problem.kind == CWEBM_PROBLEM_READING) return false;
  searched = std::max(searched, listener.last_position() + 1);
  std::vector<uint8_t> bytes;
  while (searched + kClusterStart <= source.size()) {
    const uint64_t start = searched;
    bytes.resize(static_cast<size_t>(std::min<uint64_t>(kSearchedPart, source.size() - start)));
    uint64_t done = 0;
    source.Seek(start);
    if (!source.Read(bytes.size(), bytes.data(), &done).completed_ok()) return false;
    auto found = bytes.begin();
    while (true) {
      found = std::search(found, bytes.end(), kClusterID, kClusterID + sizeof kClusterID);
      const size_t index = static_cast<size_t>(found - bytes.begin());
      if (index + kClusterStart > bytes.size()) break;
      if (IsCluster(bytes.data() + index)) {
        searched = start + index + 1;
        source.Seek(start + index);
        listener.Restart();
        parser = std::make_unique<webm::WebmParser>();
        parser->DidSeek();
        is_over = false;
        return true;
      }
      ++found;
    }
    searched = start + bytes.size() - (kClusterStart - 1);
    if (bytes.size() < kSearchedPart) return false;
  }
  return false;
}

extern "C" {

cwebm_reader *cwebm_open(int descriptor, uint64_t size) {
  try {
    return new cwebm_reader(descriptor, size);
  } catch (...) {
    return nullptr;
  }
}

void cwebm_close(cwebm_reader *reader) { delete reader; }

cwebm_event cwebm_next(cwebm_reader *reader) {
  try {
    return reader->Next();
  } catch (...) {
    reader->problem = {CWEBM_PROBLEM_EXCEPTION, 0, reader->source.Position()};
    reader->is_over = true;
    reader->last = CWEBM_EVENT_PROBLEM;
    return CWEBM_EVENT_PROBLEM;
  }
}

void cwebm_refuse_unknown(cwebm_reader *reader) { reader->listener.set_refuses_unknown(true); }

bool cwebm_resume(cwebm_reader *reader) {
  try {
    return reader->Resume();
  } catch (...) {
    return false;
  }
}

uint64_t cwebm_position(const cwebm_reader *reader) { return reader->source.Position(); }

void cwebm_select(cwebm_reader *reader, uint64_t track) { reader->listener.select(track); }

size_t cwebm_track_count(const cwebm_reader *reader) { return reader->listener.tracks().size(); }

cwebm_track cwebm_track_at(const cwebm_reader *reader, size_t index) {
  cwebm_track track = {};
  track.codec_id = "";
  const auto &tracks = reader->listener.tracks();
  if (index >= tracks.size()) return track;

  const webm::TrackEntry &entry = tracks[index];
  track.number = entry.track_number.value();
  track.type = entry.track_type.is_present() ? static_cast<uint64_t>(entry.track_type.value()) : 0;
  track.codec_id = entry.codec_id.value().c_str();
  track.codec_private = entry.codec_private.value().data();
  track.codec_private_size = entry.codec_private.value().size();
  track.default_duration = entry.default_duration.value();
  track.codec_delay = entry.codec_delay.value();
  track.pixel_width = entry.video.value().pixel_width.value();
  track.pixel_height = entry.video.value().pixel_height.value();
  track.channels = entry.audio.value().channels.value();
  const webm::Projection &projection = entry.video.value().projection.value();
  if (projection.type.value() == webm::ProjectionType::kRectangular) {
    track.pose_yaw = projection.pose_yaw.value();
    track.pose_roll = projection.pose_roll.value();
  }
  track.is_enabled = entry.is_enabled.value();
  for (const auto &encoding : entry.content_encodings.value().encodings) {
    const bool encrypts = encoding.value().type.value() == webm::ContentEncodingType::kEncryption;
    (encrypts ? track.is_encrypted : track.is_compressed) = true;
  }
  return track;
}

uint64_t cwebm_time_unit(const cwebm_reader *reader) { return reader->listener.time_unit(); }

cwebm_frame cwebm_frame_read(const cwebm_reader *reader) { return reader->listener.frame(); }

cwebm_problem cwebm_problem_found(const cwebm_reader *reader) { return reader->problem; }

}  // extern "C"
