// A C face over libwebm's C++ reader (webm_parser).
//
// The caller pulls: one call of `cwebm_next` reads on until there is something to tell. Nothing is read ahead beyond
// one 64 KiB buffer and one block, no exception crosses the border, and no allocation follows a size that the file
// only claims.
//
// Skipped on purpose: seeking (Cues), chapters, tags, attachments, alpha planes (BlockAdditions).

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

/// What `cwebm_next` came upon.
typedef enum cwebm_event {
  /// The first cluster begins: all tracks are known. Comes once, before any frame.
  CWEBM_EVENT_HEADER = 0,
  /// A whole frame of a selected track; see `cwebm_frame_read`.
  CWEBM_EVENT_FRAME = 1,
  /// The file's end, where an element ends too.
  CWEBM_EVENT_END = 2,
  /// The file's end, in the middle of an element. Every frame before it has been told.
  CWEBM_EVENT_TRUNCATED = 3,
  /// The file cannot be read on; see `cwebm_problem_found`. Every later call says the same.
  CWEBM_EVENT_PROBLEM = 4,
} cwebm_event;

/// Why a file cannot be read on.
typedef enum cwebm_problem_kind {
  CWEBM_PROBLEM_NONE = 0,
  /// It does not begin with an EBML header, or the header names another kind of document.
  CWEBM_PROBLEM_NOT_WEBM = 1,
  /// libwebm refuses an element; `detail` is its status code (webm/status.h).
  CWEBM_PROBLEM_MALFORMED = 2,
  /// A frame is larger than `CWEBM_LARGEST_FRAME`; `detail` is its size.
  CWEBM_PROBLEM_LARGE_FRAME = 3,
  /// Another element that has to be kept is larger than `CWEBM_LARGEST_ELEMENT`; `detail` is its size.
  CWEBM_PROBLEM_LARGE_ELEMENT = 4,
  /// An element other than Segment and Cluster does not say how long it is.
  CWEBM_PROBLEM_UNKNOWN_SIZE = 5,
  /// More than `CWEBM_MOST_TRACKS` tracks.
  CWEBM_PROBLEM_MANY_TRACKS = 6,
  /// More than `CWEBM_MOST_BLOCKS` blocks in one cluster.
  CWEBM_PROBLEM_MANY_BLOCKS = 7,
  /// A cluster has no time, or one beyond 2^53.
  CWEBM_PROBLEM_CLUSTER_TIME = 8,
  /// A second EBML header or Segment follows the first.
  CWEBM_PROBLEM_SECOND_SEGMENT = 9,
  /// The disk refuses; `detail` is errno.
  CWEBM_PROBLEM_READING = 10,
  /// Memory ran out, or libwebm threw.
  CWEBM_PROBLEM_EXCEPTION = 11,
} cwebm_problem_kind;

typedef struct cwebm_problem {
  cwebm_problem_kind kind;
  /// A number that belongs to the kind.
  int64_t detail;
  /// Where in the file, in bytes from its start.
  uint64_t position;
} cwebm_problem;

enum {
  /// Bytes of a frame, and of all frames of a laced block together.
  CWEBM_LARGEST_FRAME = 4 << 20,
  CWEBM_LARGEST_ELEMENT = 1 << 20,
  CWEBM_MOST_TRACKS = 64,
  CWEBM_MOST_BLOCKS = 65536,
};

/// A track as its TrackEntry describes it. The pointers hold until the reader is closed.
typedef struct cwebm_track {
  /// 0 when the file does not tell.
  uint64_t number;
  /// Matroska's TrackType: 1 video, 2 audio; 0 when the file does not tell.
  uint64_t type;
  /// For example `V_VP8`; empty when the file does not tell. Ends with a zero byte.
  const char *codec_id;
  const uint8_t *_Nullable codec_private;
  size_t codec_private_size;
  /// The time between two frames in nanoseconds; 0 when the file does not tell.
  uint64_t default_duration;
  /// What the decoder's output is late by, in nanoseconds.
  uint64_t codec_delay;
  uint64_t pixel_width;
  uint64_t pixel_height;
  uint64_t channels;
  bool is_enabled;
  /// Whether frames are compressed or encrypted on top of their codec (ContentEncodings).
  bool is_compressed;
  bool is_encrypted;
} cwebm_track;

/// A frame. The pointer holds until the next call of `cwebm_next` or `cwebm_close`.
typedef struct cwebm_frame {
  uint64_t track;
  /// Its place in its block, from 0. Only laced blocks have more than one frame, and only the first has a time.
  size_t lace;
  /// Its block's time in units of `cwebm_time_unit` from the segment's start; can be below zero.
  int64_t time;
  /// Its block's duration in the same units; -1 when the file does not tell.
  int64_t duration;
  const uint8_t *_Nullable bytes;
  size_t size;
  /// Where its block begins, in bytes from the file's start.
  uint64_t position;
} cwebm_frame;

/// Begins to read a file from its start.
///
/// - Parameter descriptor: an open, seekable file, read with `pread` only, so that several readers can share it. It
///   must stay open as long as the reader; the reader does not close it.
/// - Parameter size: the file's size in bytes; nothing beyond it is read.
/// - Returns: null when memory ran out.
cwebm_reader *_Nullable cwebm_open(int descriptor, uint64_t size);

void cwebm_close(cwebm_reader *reader);

/// Reads on until there is something to tell.
cwebm_event cwebm_next(cwebm_reader *reader);

/// From now on only this track's frames are read; all others are jumped over. Before the first call none is read.
void cwebm_select(cwebm_reader *reader, uint64_t track);

size_t cwebm_track_count(const cwebm_reader *reader);

/// The track at an index below `cwebm_track_count`; an empty one for any other.
cwebm_track cwebm_track_at(const cwebm_reader *reader, size_t index);

/// Nanoseconds in a unit of time (TimecodeScale); 0 is possible in a broken file.
uint64_t cwebm_time_unit(const cwebm_reader *reader);

/// The frame last told by `CWEBM_EVENT_FRAME`.
cwebm_frame cwebm_frame_read(const cwebm_reader *reader);

/// What was wrong, after `CWEBM_EVENT_PROBLEM`.
cwebm_problem cwebm_problem_found(const cwebm_reader *reader);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif

#endif
