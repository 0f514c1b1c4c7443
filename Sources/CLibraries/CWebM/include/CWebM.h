// A C interface to libwebm's C++ parser (webm_parser).
//
// Each call of `cwebm_next` parses up to the next event. It reads ahead at most one buffer of 64 KiB and one block,
// lets no C++ exception escape, and allocates no memory for a size that is only declared in the file.
//
// Not supported on purpose: seeking (Cues), chapters, tags, attachments, alpha planes (BlockAdditions).

#ifndef CWEBM_H
#define CWEBM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma clang assume_nonnull begin

typedef struct cwebm_reader cwebm_reader;

/// The event that `cwebm_next` returns.
typedef enum cwebm_event {
  /// The first cluster begins, and all tracks are known. Returned once, before any frame.
  CWEBM_EVENT_HEADER = 0,
  /// A complete frame of the selected track; see `cwebm_frame_read`.
  CWEBM_EVENT_FRAME = 1,
  /// The end of the file, at the end of an element.
  CWEBM_EVENT_END = 2,
  /// The end of the file, in the middle of an element. All complete frames before it have been returned.
  CWEBM_EVENT_TRUNCATED = 3,
  /// The rest of the file cannot be parsed; see `cwebm_problem_found`. Every later call returns the same.
  CWEBM_EVENT_PROBLEM = 4,
} cwebm_event;

/// The reason why the rest of a file cannot be parsed.
typedef enum cwebm_problem_kind {
  CWEBM_PROBLEM_NONE = 0,
  /// It does not begin with an EBML header, or the header names another kind of document.
  CWEBM_PROBLEM_NOT_WEBM = 1,
  /// libwebm rejects an element; `detail` is its status code (webm/status.h).
  CWEBM_PROBLEM_MALFORMED = 2,
  /// A frame is larger than `CWEBM_LARGEST_FRAME`; `detail` is its size.
  CWEBM_PROBLEM_LARGE_FRAME = 3,
  /// Another element that must be stored is larger than `CWEBM_LARGEST_ELEMENT`; `detail` is its size.
  CWEBM_PROBLEM_LARGE_ELEMENT = 4,
  /// An element other than Segment and Cluster has an unknown size.
  CWEBM_PROBLEM_UNKNOWN_SIZE = 5,
  /// There are more than `CWEBM_MOST_TRACKS` tracks.
  CWEBM_PROBLEM_MANY_TRACKS = 6,
  /// A cluster has more than `CWEBM_MOST_BLOCKS` blocks.
  CWEBM_PROBLEM_MANY_BLOCKS = 7,
  /// A cluster has no timestamp, or one above 2^53.
  CWEBM_PROBLEM_CLUSTER_TIME = 8,
  /// A second EBML header or Segment follows the first.
  CWEBM_PROBLEM_SECOND_SEGMENT = 9,
  /// Reading the file failed; `detail` is errno.
  CWEBM_PROBLEM_READING = 10,
  /// There is not enough memory, or libwebm threw an exception.
  CWEBM_PROBLEM_EXCEPTION = 11,
} cwebm_problem_kind;

typedef struct cwebm_problem {
  cwebm_problem_kind kind;
  /// A number whose meaning depends on the kind; see `cwebm_problem_kind`.
  int64_t detail;
  /// The position in the file, in bytes from its start.
  uint64_t position;
} cwebm_problem;

enum {
  /// The maximum size in bytes of a frame, and of all frames of a laced block together.
  CWEBM_LARGEST_FRAME = 4 << 20,
  CWEBM_LARGEST_ELEMENT = 1 << 20,
  CWEBM_MOST_TRACKS = 64,
  CWEBM_MOST_BLOCKS = 65536,
};

/// A track, as its TrackEntry describes it. The pointers are valid until the reader is closed.
typedef struct cwebm_track {
  /// 0 if the file does not specify it.
  uint64_t number;
  /// Matroska's TrackType: 1 video, 2 audio; 0 if the file does not specify it.
  uint64_t type;
  /// For example `V_VP8`; empty if the file does not specify it. Null-terminated.
  const char *codec_id;
  const uint8_t *_Nullable codec_private;
  size_t codec_private_size;
  /// The time between two frames in nanoseconds; 0 if the file does not specify it.
  uint64_t default_duration;
  /// The delay of the decoder's output, in nanoseconds.
  uint64_t codec_delay;
  uint64_t pixel_width;
  uint64_t pixel_height;
  uint64_t channels;
  /// The pose of a rectangular projection, in degrees; 0 if the file does not specify it, or another projection.
  double pose_yaw;
  double pose_roll;
  bool is_enabled;
  /// Whether the encoded frames are compressed in addition (ContentEncodings).
  bool is_compressed;
  /// Whether the encoded frames are encrypted (ContentEncodings).
  bool is_encrypted;
} cwebm_track;

/// A frame. The pointer is valid until the next call of `cwebm_next` or `cwebm_close`.
typedef struct cwebm_frame {
  uint64_t track;
  /// The index of the frame in its block. Only a laced block has more than one frame, and only its first frame has a
  /// timestamp.
  size_t lace;
  /// The timestamp of the block, in units of `cwebm_time_unit` from the segment's start; may be negative.
  int64_t time;
  /// The duration of the block in the same units; -1 if the file does not specify it.
  int64_t duration;
  const uint8_t *_Nullable bytes;
  size_t size;
  /// The position of the block, in bytes from the start of the file.
  uint64_t position;
} cwebm_frame;

/// Creates a reader at the start of a file.
///
/// - Parameter descriptor: an open, seekable file. The reader reads it only with `pread`, so several readers can share
///   it. It must stay open until the reader is closed; the reader does not close it.
/// - Parameter size: the size of the file in bytes; nothing beyond it is read.
/// - Returns: the reader, or null if there is not enough memory.
cwebm_reader *_Nullable cwebm_open(int descriptor, uint64_t size);

void cwebm_close(cwebm_reader *reader);

/// Parses up to the next event.
cwebm_event cwebm_next(cwebm_reader *reader);

/// Refuses elements within clusters that no version of Matroska has there: in a file that a recorder wrote they are damage. Without this
/// they are skipped.
void cwebm_refuse_unknown(cwebm_reader *reader);

/// Continues after a problem, after `CWEBM_EVENT_TRUNCATED` or after a frame that cannot be used, with the next cluster after the last block that began.
///
/// - Returns: false if there is none, if the file cannot be read there, or if the tracks are not known. Then `cwebm_next` returns the
///   same as before.
bool cwebm_resume(cwebm_reader *reader);

/// Returns the position up to which the file was read, in bytes from its start.
uint64_t cwebm_position(const cwebm_reader *reader);

/// Selects the track whose frames are read from now on; those of all others are skipped. Before the first call, all are
/// skipped.
void cwebm_select(cwebm_reader *reader, uint64_t track);

size_t cwebm_track_count(const cwebm_reader *reader);

/// Returns the track at an index below `cwebm_track_count`; an empty track for any other index.
cwebm_track cwebm_track_at(const cwebm_reader *reader, size_t index);

/// Returns the unit of time in nanoseconds (TimecodeScale); it can be 0 in a damaged file.
uint64_t cwebm_time_unit(const cwebm_reader *reader);

/// Returns the frame of the last `CWEBM_EVENT_FRAME`.
cwebm_frame cwebm_frame_read(const cwebm_reader *reader);

/// Returns the problem, after `CWEBM_EVENT_PROBLEM`.
cwebm_problem cwebm_problem_found(const cwebm_reader *reader);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif

#endif
