// libvorbis for Swift: one structure for the parts of a decoder, which point to each other and so must not be moved.
// Its input is bytes instead of libogg's packets.
#ifndef CVORBIS_SHIM_H
#define CVORBIS_SHIM_H

#include <string.h>
#include <vorbis/codec.h>

typedef struct chatbot_vorbis {
  vorbis_info info;
  vorbis_comment comment;
  vorbis_dsp_state state;
  vorbis_block block;
  int headers;
  int is_ready;
} chatbot_vorbis;

static inline void chatbot_vorbis_begin(chatbot_vorbis *decoder) {
  memset(decoder, 0, sizeof *decoder);
  vorbis_info_init(&decoder->info);
  vorbis_comment_init(&decoder->comment);
}

static inline void chatbot_vorbis_end(chatbot_vorbis *decoder) {
  if (decoder->is_ready) {
    vorbis_block_clear(&decoder->block);
    vorbis_dsp_clear(&decoder->state);
  }
  vorbis_comment_clear(&decoder->comment);
  vorbis_info_clear(&decoder->info);
}

static inline ogg_packet chatbot_vorbis_packet(const void *bytes, long size, int is_first) {
  ogg_packet packet;
  memset(&packet, 0, sizeof packet);
  packet.packet = (unsigned char *)bytes;
  packet.bytes = size;
  packet.b_o_s = is_first;
  return packet;
}

// Parses the next of the three header packets. Returns 1 on success.
static inline int chatbot_vorbis_header(chatbot_vorbis *decoder, const void *bytes, long size) {
  ogg_packet packet = chatbot_vorbis_packet(bytes, size, decoder->headers == 0);
  if (vorbis_synthesis_headerin(&decoder->info, &decoder->comment, &packet) != 0) return 0;
  decoder->headers++;
  return 1;
}

// Initializes the decoder after the three header packets. Returns 1 on success.
static inline int chatbot_vorbis_ready(chatbot_vorbis *decoder) {
  if (decoder->headers != 3 || vorbis_synthesis_init(&decoder->state, &decoder->info) != 0) return 0;
  vorbis_block_init(&decoder->state, &decoder->block);
  decoder->is_ready = 1;
  return 1;
}

// Decodes a packet. Returns 1 on success.
static inline int chatbot_vorbis_decode(chatbot_vorbis *decoder, const void *bytes, long size) {
  ogg_packet packet = chatbot_vorbis_packet(bytes, size, 0);
  if (vorbis_synthesis(&decoder->block, &packet) != 0) return 0;
  return vorbis_synthesis_blockin(&decoder->state, &decoder->block) == 0;
}

// Returns the number of decoded samples of each channel.
static inline int chatbot_vorbis_waiting(chatbot_vorbis *decoder) {
  return vorbis_synthesis_pcmout(&decoder->state, NULL);
}

// Removes all decoded samples and writes them to `target`, interleaved.
static inline void chatbot_vorbis_take(chatbot_vorbis *decoder, float *target) {
  float **planes;
  const int channels = decoder->info.channels;
  const int count = vorbis_synthesis_pcmout(&decoder->state, &planes);
  for (int i = 0; i < count; i++) {
    for (int channel = 0; channel < channels; channel++) target[i * channels + channel] = planes[channel][i];
  }
  vorbis_synthesis_read(&decoder->state, count);
}

#endif
