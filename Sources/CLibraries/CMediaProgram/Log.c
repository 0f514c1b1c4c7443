#include "CMediaProgram.h"

#include <libavutil/log.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 160

static char first[LENGTH];
static char first_damage[LENGTH];

/* What H.264 decoders log as an error of something that no sample depends on: messages of supplemental enhancement information (H.264,
 * annex D: a decoder may ignore them), and the rate that a parameter set states (annex E). The beginnings of the formats, which are
 * those of FFmpeg 5.1 to 8. */
static const char *const harmless[] = {
    "SEI type %d ",
    "non-existing SPS %d referenced in buffering period",
    "time_scale/num_units_in_tick invalid or unsupported",
};

/* Whether a line is of a decoder, and not for example of the conversion of a decoded frame. */
static int is_of_decoder(void *context) {
  const AVClass *class = context == NULL ? NULL : *(const AVClass **)context;
  if (class == NULL) return 0;
  AVClassCategory category = class->get_category != NULL ? class->get_category(context) : class->category;
  return category == AV_CLASS_CATEGORY_DECODER;
}

static int is_harmless(const char *format) {
  for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
    if (strncmp(format, harmless[i], strlen(harmless[i])) == 0) return 1;
  }
  return 0;
}

static void keep(char *text, const char *format, va_list arguments) {
  if (text[0] != 0) return;
  vsnprintf(text, LENGTH, format, arguments);
  text[strcspn(text, "\r\n")] = 0;
}

static void note(void *context, int level, const char *format, va_list arguments) {
  if (level > AV_LOG_ERROR) return;
  va_list copy;
  va_copy(copy, arguments);
  keep(first, format, copy);
  va_end(copy);
  if (is_of_decoder(context) && !is_harmless(format)) keep(first_damage, format, arguments);
}

void cmediaprogram_log_start(void) {
  av_log_set_level(AV_LOG_ERROR);
  av_log_set_callback(note);
}

void cmediaprogram_log_reset(void) { first[0] = first_damage[0] = 0; }

const char *cmediaprogram_log_text(void) { return first; }

const char *cmediaprogram_log_damage(void) { return first_damage; }
