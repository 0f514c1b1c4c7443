#include "CMediaProgram.h"

#include <libavutil/log.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int errors = 0;
static char text[160];

static void note(void *context, int level, const char *format, va_list arguments) {
  (void)context;
  if (level > AV_LOG_ERROR) return;
  if (errors == 0) {
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\r\n")] = 0;
  }
  if (errors < 1000000) errors++;
}

void cmediaprogram_log_start(void) {
  av_log_set_level(AV_LOG_ERROR);
  av_log_set_callback(note);
}

void cmediaprogram_log_reset(void) {
  errors = 0;
  text[0] = 0;
}

int cmediaprogram_log_errors(void) { return errors; }

const char *cmediaprogram_log_text(void) { return text; }
