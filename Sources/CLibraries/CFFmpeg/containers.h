// Writing of containers with FFmpeg 5.1 to 8: a file that another process has opened, and what differs between the versions.
#ifndef CFFMPEG_CONTAINERS_H
#define CFFMPEG_CONTAINERS_H

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The file that is written, and that is read again when its index is moved to the front.
struct chatbot_av_file {
  int descriptor;
  // How often a full disk is tried again, each second.
  int patience;
  int64_t size;
  // The first error of the system; 0 if there was none.
  int error;
};

// One position in it.
struct chatbot_av_cursor {
  struct chatbot_av_file *file;
  int64_t position;
};

static inline int chatbot_av_file_write(struct chatbot_av_file *file, const uint8_t *bytes, int count, int64_t position) {
  int written = 0, waits = 0;
  while (written < count) {
    ssize_t part = pwrite(file->descriptor, bytes + written, (size_t)(count - written), (off_t)(position + written));
    if (part > 0) {
      written += (int)part;
      continue;
    }
    int error = part == 0 ? ENOSPC : errno;
    if (error == EINTR) continue;
    if ((error == ENOSPC || error == EDQUOT) && waits++ < file->patience) {
      struct timespec second = {1, 0};
      nanosleep(&second, NULL);
      continue;
    }
    if (error == EDQUOT) error = ENOSPC;
    if (file->error == 0) file->error = error;
    return AVERROR(error);
  }
  if (position + count > file->size) file->size = position + count;
  return count;
}

#if LIBAVFORMAT_VERSION_MAJOR >= 61
static inline int chatbot_av_cursor_write(void *opaque, const uint8_t *bytes, int count) {
#else
static inline int chatbot_av_cursor_write(void *opaque, uint8_t *bytes, int count) {
#endif
  struct chatbot_av_cursor *cursor = opaque;
  int written = chatbot_av_file_write(cursor->file, bytes, count, cursor->position);
  if (written > 0) cursor->position += written;
  return written;
}

static inline int chatbot_av_cursor_read(void *opaque, uint8_t *bytes, int count) {
  struct chatbot_av_cursor *cursor = opaque;
  ssize_t got;
  do {
    got = pread(cursor->file->descriptor, bytes, (size_t)count, (off_t)cursor->position);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return AVERROR(errno);
  if (got == 0) return AVERROR_EOF;
  cursor->position += got;
  return (int)got;
}

static inline int64_t chatbot_av_cursor_seek(void *opaque, int64_t offset, int whence) {
  struct chatbot_av_cursor *cursor = opaque;
  int64_t base = 0;
  if ((whence & AVSEEK_SIZE) != 0) return cursor->file->size;
  switch (whence & 0xFF) {
    case SEEK_SET: break;
    case SEEK_CUR: base = cursor->position; break;
    case SEEK_END: base = cursor->file->size; break;
    default: return AVERROR(EINVAL);
  }
  if (offset > INT64_MAX - base || base + offset < 0) return AVERROR(EINVAL);
  cursor->position = base + offset;
  return cursor->position;
}

// Opens the file once more; NULL without memory.
static inline AVIOContext *chatbot_av_file_open(struct chatbot_av_file *file, int writes) {
  const int size = 256 << 10;
  struct chatbot_av_cursor *cursor = av_mallocz(sizeof *cursor);
  uint8_t *buffer = av_malloc(size);
  AVIOContext *context = NULL;
  if (cursor != NULL && buffer != NULL) {
    cursor->file = file;
    context = avio_alloc_context(buffer, size, writes, cursor, writes ? NULL : chatbot_av_cursor_read,
                                 writes ? chatbot_av_cursor_write : NULL, chatbot_av_cursor_seek);
  }
  if (context == NULL) {
    av_free(cursor);
    av_free(buffer);
  }
  return context;
}

static inline int chatbot_av_file_close(AVIOContext *context) {
  if (context == NULL) return 0;
  if (context->write_flag) avio_flush(context);
  int error = context->error;
  av_freep(&context->opaque);
  av_freep(&context->buffer);
  avio_context_free(&context);
  return error;
}

// The file is the only one that a muxer can open, and only for reading.
static inline int chatbot_av_io_open(AVFormatContext *context, AVIOContext **io, const char *url, int flags,
                                     AVDictionary **options) {
  (void)url;
  (void)options;
  if ((flags & AVIO_FLAG_WRITE) != 0) return AVERROR(EACCES);
  *io = chatbot_av_file_open(context->opaque, 0);
  return *io == NULL ? AVERROR(ENOMEM) : 0;
}

static inline int chatbot_av_io_close(AVFormatContext *context, AVIOContext *io) {
  (void)context;
  return chatbot_av_file_close(io);
}

// A muxer that writes into the file. Returns 0 or an error of FFmpeg.
static inline int chatbot_av_muxer(AVFormatContext **context, const char *format, struct chatbot_av_file *file) {
  int code = avformat_alloc_output_context2(context, NULL, format, NULL);
  if (code < 0) return code;
  (*context)->opaque = file;
  (*context)->io_open = chatbot_av_io_open;
  (*context)->io_close2 = chatbot_av_io_close;
  (*context)->url = av_strdup("");
  (*context)->pb = chatbot_av_file_open(file, 1);
  (*context)->flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT;
  (*context)->avoid_negative_ts = 0;
  (*context)->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  return (*context)->url == NULL || (*context)->pb == NULL ? AVERROR(ENOMEM) : 0;
}

static inline int chatbot_av_add_chapter(AVFormatContext *context, int64_t start, int64_t end, const char *title) {
  AVChapter *chapter = av_mallocz(sizeof *chapter);
  if (chapter == NULL) return AVERROR(ENOMEM);
  chapter->id = context->nb_chapters + 1;
  chapter->time_base = (AVRational){1, 1000};
  chapter->start = start;
  chapter->end = end;
  av_dict_set(&chapter->metadata, "title", title, 0);
  int code = av_dynarray_add_nofree(&context->chapters, (int *)&context->nb_chapters, chapter);
  if (code < 0) {
    av_dict_free(&chapter->metadata);
    av_free(chapter);
  }
  return code;
}

// Has players mirror the frames of a stream, left to right, if mirrored is not 0, and turn them clockwise then, by a multiple of 90 degrees.
static inline int chatbot_av_set_orientation(AVStream *stream, int degrees, int mirrored, int width, int height) {
  static const int32_t cosines[] = {1, 0, -1, 0}, sines[] = {0, 1, 0, -1};
  if (degrees % 90 != 0 || degrees < 0 || degrees > 270) return AVERROR(EINVAL);
  int turn = degrees / 90;
  const int32_t one = 1 << 16;
  int32_t matrix[9] = {cosines[turn] * one, sines[turn] * one, 0, -sines[turn] * one, cosines[turn] * one, 0, 0, 0, 1 << 30};
  matrix[6] = (turn == 1 ? height : turn == 2 ? width : 0) * one;
  matrix[7] = (turn == 2 ? height : turn == 3 ? width : 0) * one;
  if (mirrored) {
    // The left edge takes the place of the right one before all is turned.
    matrix[6] += matrix[0] * width;
    matrix[7] += matrix[1] * width;
    matrix[0] = -matrix[0];
    matrix[1] = -matrix[1];
  }
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  AVPacketSideData *data =
      av_packet_side_data_new(&stream->codecpar->coded_side_data, &stream->codecpar->nb_coded_side_data,
                              AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix, 0);
  if (data == NULL) return AVERROR(ENOMEM);
  memcpy(data->data, matrix, sizeof matrix);
#else
  uint8_t *data = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix);
  if (data == NULL) return AVERROR(ENOMEM);
  memcpy(data, matrix, sizeof matrix);
#endif
  return 0;
}

// States the samples at the end of a packet's audio that are not heard.
static inline int chatbot_av_skip_at_end(AVPacket *packet, uint32_t samples) {
  uint8_t *data = av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, 10);
  if (data == NULL) return AVERROR(ENOMEM);
  memset(data, 0, 10);
  AV_WL32(data + 4, samples);
  return 0;
}

// Unsigned in Swift, unlike the other flags.
static inline unsigned chatbot_av_closed_groups(void) { return AV_CODEC_FLAG_CLOSED_GOP; }

static void chatbot_av_keep(void *opaque, uint8_t *data) {
  (void)opaque;
  (void)data;
}

// A frame's reference to memory that stays: nothing is copied, and nothing released.
static inline AVBufferRef *chatbot_av_borrow(uint8_t *data, size_t size) {
  return av_buffer_create(data, size, chatbot_av_keep, NULL, AV_BUFFER_FLAG_READONLY);
}

#endif
