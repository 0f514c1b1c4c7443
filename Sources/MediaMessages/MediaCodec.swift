/// The codecs that a worker decodes. The raw values are those of the messages.
package enum MediaCodec: UInt8, Sendable, Hashable, CaseIterable {
  case h264 = 1
  case g722 = 2
  case vp8 = 3
  case vp9 = 4
}
