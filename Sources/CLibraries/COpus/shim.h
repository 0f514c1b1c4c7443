// libopus for Swift: functions for settings that the library offers only as macros with variadic functions.
#ifndef COPUS_SHIM_H
#define COPUS_SHIM_H

#include <opus.h>

static inline int chatbot_opus_encoder_set_bitrate(OpusEncoder *encoder, opus_int32 bitsPerSecond) {
  return opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bitsPerSecond));
}

static inline int chatbot_opus_encoder_set_complexity(OpusEncoder *encoder, opus_int32 complexity) {
  return opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY(complexity));
}

static inline int chatbot_opus_encoder_set_inband_fec(OpusEncoder *encoder, opus_int32 enabled) {
  return opus_encoder_ctl(encoder, OPUS_SET_INBAND_FEC(enabled));
}

static inline int chatbot_opus_encoder_set_packet_loss(OpusEncoder *encoder, opus_int32 percent) {
  return opus_encoder_ctl(encoder, OPUS_SET_PACKET_LOSS_PERC(percent));
}

static inline int chatbot_opus_encoder_set_dtx(OpusEncoder *encoder, opus_int32 enabled) {
  return opus_encoder_ctl(encoder, OPUS_SET_DTX(enabled));
}

static inline int chatbot_opus_encoder_set_prediction_disabled(OpusEncoder *encoder, opus_int32 disabled) {
  return opus_encoder_ctl(encoder, OPUS_SET_PREDICTION_DISABLED(disabled));
}

static inline int chatbot_opus_encoder_get_lookahead(OpusEncoder *encoder, opus_int32 *samples) {
  return opus_encoder_ctl(encoder, OPUS_GET_LOOKAHEAD(samples));
}

#endif
