// libsndfile for Swift: functions that use constants of unnamed enums, which Swift imports without a type.
#ifndef CSNDFILE_SHIM_H
#define CSNDFILE_SHIM_H

#include <sndfile.h>
#include <string.h>

// Opens a file for reading through the caller's functions. Returns null if its format is unknown.
static inline SNDFILE *chatbot_sndfile_open(SF_VIRTUAL_IO *functions, SF_INFO *info, void *context) {
  memset(info, 0, sizeof *info);
  return sf_open_virtual(functions, SFM_READ, info, context);
}

// The container: WAV in one of its four forms, FLAC, Ogg or another one.
typedef enum chatbot_sndfile_container {
  CHATBOT_SNDFILE_WAV,
  CHATBOT_SNDFILE_FLAC,
  CHATBOT_SNDFILE_OGG,
  CHATBOT_SNDFILE_OTHER,
} chatbot_sndfile_container;

static inline chatbot_sndfile_container chatbot_sndfile_container_of(const SF_INFO *info) {
  switch (info->format & SF_FORMAT_TYPEMASK) {
    case SF_FORMAT_WAV:
    case SF_FORMAT_WAVEX:
    case SF_FORMAT_W64:
    case SF_FORMAT_RF64:
      return CHATBOT_SNDFILE_WAV;
    case SF_FORMAT_FLAC:
      return CHATBOT_SNDFILE_FLAC;
    case SF_FORMAT_OGG:
      return CHATBOT_SNDFILE_OGG;
    default:
      return CHATBOT_SNDFILE_OTHER;
  }
}

// Returns the sample format as a text: "16 bit", "float", ...; empty if it has no short name.
static inline const char *chatbot_sndfile_samples_of(const SF_INFO *info) {
  switch (info->format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_S8:
    case SF_FORMAT_PCM_U8:
      return "8 bit";
    case SF_FORMAT_PCM_16:
      return "16 bit";
    case SF_FORMAT_PCM_24:
      return "24 bit";
    case SF_FORMAT_PCM_32:
      return "32 bit";
    case SF_FORMAT_FLOAT:
      return "float";
    case SF_FORMAT_DOUBLE:
      return "double";
    case SF_FORMAT_ULAW:
      return "u-law";
    case SF_FORMAT_ALAW:
      return "A-law";
    case SF_FORMAT_VORBIS:
      return "Vorbis";
    default:
      return "";
  }
}

#endif
