#include "include/CWebM.h"

#include <webm/webm_parser.h>

#include <new>

#include "DescriptorReader.h"
#include "Listener.h"

struct cwebm_reader {
  cwebm_reader(int descriptor, uint64_t size) : source(descriptor, size), listener(source) {}

  cwebm_event Next();

  cwebm::DescriptorReader source;
  cwebm::Listener listener;
  webm::WebmParser parser;
  /// Whether the file has ended or was rejected; then every later call returns the same event.
  bool is_over = false;
  cwebm_event last = CWEBM_EVENT_END;
  cwebm_problem problem = {CWEBM_PROBLEM_NONE, 0, 0};

 private:
  cwebm_event Finish(cwebm_event event);
  cwebm_event Fail(cwebm_problem_kind kind, int64_t detail);
};

cwebm_event cwebm_reader::Next() {
  if (is_over) return last;
  if (listener.NextLace()) return CWEBM_EVENT_FRAME;
  while (true) {
    const webm::Status status = parser.Feed(&listener, &source);
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
