// FFmpeg 5.1 to 8 for Swift: macros, and what differs between its versions. Only the program chatbot-media uses it.
#ifndef CFFMPEG_SHIM_H
#define CFFMPEG_SHIM_H

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// More input is needed before there is output.
static inline int chatbot_av_again(void) { return AVERROR(EAGAIN); }

static inline int chatbot_av_end(void) { return AVERROR_EOF; }

static inline int chatbot_av_no_memory(void) { return AVERROR(ENOMEM); }

// A macro up to FFmpeg 7, and an enumeration since 8.
static inline int chatbot_sws_bicubic(void) { return SWS_BICUBIC; }

// Whether parts of a decoded frame are missing or were made up.
static inline int chatbot_av_is_damaged(const AVFrame *frame) {
  return frame->decode_error_flags != 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
}

#endif
