// libvpx for Swift: functions for what the library offers only as macros or variadic functions.
#ifndef CVPX_SHIM_H
#define CVPX_SHIM_H

#include <vpx/vp8cx.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>
#include <vpx/vpx_encoder.h>

static inline vpx_codec_err_t chatbot_vp8_decoder_init(vpx_codec_ctx_t *context, const vpx_codec_dec_cfg_t *settings) {
  return vpx_codec_dec_init(context, vpx_codec_vp8_dx(), settings, 0);
}

static inline vpx_codec_err_t chatbot_vp8_encoder_init(vpx_codec_ctx_t *context, const vpx_codec_enc_cfg_t *settings) {
  return vpx_codec_enc_init(context, vpx_codec_vp8_cx(), settings, 0);
}

static inline vpx_codec_err_t chatbot_vp9_encoder_init(vpx_codec_ctx_t *context, const vpx_codec_enc_cfg_t *settings) {
  return vpx_codec_enc_init(context, vpx_codec_vp9_cx(), settings, 0);
}

static inline vpx_codec_err_t chatbot_vp9_encoder_set_row_multithreading(vpx_codec_ctx_t *context, unsigned on) {
  return vpx_codec_control(context, VP9E_SET_ROW_MT, on);
}

// Sets how the quantizer varies within a frame: 3 is cyclic refresh.
static inline vpx_codec_err_t chatbot_vp9_encoder_set_adaptive_quantization(vpx_codec_ctx_t *context, unsigned mode) {
  return vpx_codec_control(context, VP9E_SET_AQ_MODE, mode);
}

static inline vpx_codec_err_t chatbot_vp9_decoder_init(vpx_codec_ctx_t *context, const vpx_codec_dec_cfg_t *settings) {
  return vpx_codec_dec_init(context, vpx_codec_vp9_dx(), settings, 0);
}

// Gets whether the last decoded frame, or a frame that it refers to, is corrupted.
static inline vpx_codec_err_t chatbot_vp8_decoder_get_corrupted(vpx_codec_ctx_t *context, int *corrupted) {
  return vpx_codec_control(context, VP8D_GET_FRAME_CORRUPTED, corrupted);
}

// Gets the width and height of the last decoded VP9 frame, also of one that is not shown.
static inline vpx_codec_err_t chatbot_vp9_decoder_get_size(vpx_codec_ctx_t *context, int size[2]) {
  return vpx_codec_control(context, VP9D_GET_FRAME_SIZE, size);
}

static inline vpx_codec_err_t chatbot_vpx_encoder_set_speed(vpx_codec_ctx_t *context, int speed) {
  return vpx_codec_control(context, VP8E_SET_CPUUSED, speed);
}

static inline vpx_codec_err_t chatbot_vpx_encoder_set_static_threshold(vpx_codec_ctx_t *context, unsigned threshold) {
  return vpx_codec_control(context, VP8E_SET_STATIC_THRESHOLD, threshold);
}

// Sets the maximum size of a keyframe, in percent of the bits of one frame at the target bitrate.
static inline vpx_codec_err_t chatbot_vpx_encoder_set_largest_keyframe(vpx_codec_ctx_t *context, unsigned percent) {
  return vpx_codec_control(context, VP8E_SET_MAX_INTRA_BITRATE_PCT, percent);
}

// Gets the quantizer of the last frame, 0 to 63.
static inline vpx_codec_err_t chatbot_vpx_encoder_get_quantizer(vpx_codec_ctx_t *context, int *quantizer) {
  return vpx_codec_control(context, VP8E_GET_LAST_QUANTIZER_64, quantizer);
}

// Returns the bytes of a packet that contains a frame; null for every other kind of packet.
static inline const void *chatbot_vpx_frame_bytes(const vpx_codec_cx_pkt_t *packet) {
  return packet->kind == VPX_CODEC_CX_FRAME_PKT ? packet->data.frame.buf : 0;
}

static inline size_t chatbot_vpx_frame_size(const vpx_codec_cx_pkt_t *packet) { return packet->data.frame.sz; }

static inline int chatbot_vpx_frame_is_keyframe(const vpx_codec_cx_pkt_t *packet) {
  return (packet->data.frame.flags & VPX_FRAME_IS_KEY) != 0;
}

#endif
