// Reading and writing of streams with FFmpeg 5.1 to 8: what Swift cannot call, and what differs between the versions.
#ifndef CFFMPEG_FILES_H
#define CFFMPEG_FILES_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/intreadwrite.h>
#include <libswresample/swresample.h>
#include <stdlib.h>

static inline int chatbot_av_seek_size(void) { return AVSEEK_SIZE; }

static inline int chatbot_av_invalid(void) { return AVERROR_INVALIDDATA; }

// A bit field.
static inline int chatbot_av_index_entry_size(const AVIndexEntry *entry) { return entry->size; }

static inline const uint8_t *chatbot_av_stream_data(const AVStream *stream, enum AVPacketSideDataType type,
                                                    size_t *size) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const AVPacketSideData *data =
      av_packet_side_data_get(stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, type);
  *size = data == NULL ? 0 : data->size;
  return data == NULL ? NULL : data->data;
#else
  *size = 0;
  return av_stream_get_side_data(stream, type, size);
#endif
}

static inline int chatbot_av_is_encrypted(const AVStream *stream) {
  size_t size;
  return chatbot_av_stream_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, &size) != NULL;
}

static inline int chatbot_av_packet_is_encrypted(const AVPacket *packet) {
  return av_packet_get_side_data(packet, AV_PKT_DATA_ENCRYPTION_INFO, NULL) != NULL;
}

// How frames must be turned: the degrees clockwise, a multiple of 90, and 0x1000 if they must be mirrored, left to right, before.
static inline int chatbot_av_orientation(const AVStream *stream) {
  size_t size;
  const uint8_t *data = chatbot_av_stream_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (data == NULL || size < 9 * sizeof(int32_t)) return 0;
  int32_t matrix[9];
  memcpy(matrix, data, sizeof matrix);
  // The columns (a, b) and (c, d) are where the axes of a frame point to, downwards and to the right.
  int64_t a = matrix[0], b = matrix[1], c = matrix[3], d = matrix[4];
  // Signs are enough, and the products do not overflow.
  int mirrored = (a >> 8) * (d >> 8) - (b >> 8) * (c >> 8) < 0;
  if (mirrored) {
    a = -a;
    b = -b;
  }
  int turned = llabs(a) >= llabs(b) ? (a >= 0 ? 0 : 180) : (b > 0 ? 90 : 270);
  return turned | (mirrored ? 0x1000 : 0);
}

// The samples to discard at the start and at the end of the audio of a packet.
static inline void chatbot_av_skipped_samples(const AVPacket *packet, uint32_t *samples) {
  size_t size = 0;
  const uint8_t *data = av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, &size);
  samples[0] = samples[1] = 0;
  if (data == NULL || size < 8) return;
  samples[0] = AV_RL32(data);
  samples[1] = AV_RL32(data + 4);
}

// The average quantizer of an encoded frame.
static inline int chatbot_av_quantizer(const AVPacket *packet) {
  size_t size = 0;
  const uint8_t *data = av_packet_get_side_data(packet, AV_PKT_DATA_QUALITY_STATS, &size);
  return data == NULL || size < 4 ? 0 : (int)(AV_RL32(data) / FF_QP2LAMBDA);
}

// Without a frame: returns what the filter has kept. The parameter of the input lost a `const` and gained another between the versions.
static inline int chatbot_swr_convert(SwrContext *converter, uint8_t **output, int count, const AVFrame *frame) {
  if (frame == NULL) return swr_convert(converter, output, count, NULL, 0);
  return swr_convert(converter, output, count, (const uint8_t **)frame->extended_data, frame->nb_samples);
}

#endif
