import Media
import NIOCore

/// Frames of 640x480 of a codec that a receiver accepts: the headers are those of an encoder, and random bytes follow them.
///
/// The headers are of libvpx, and of x264, x265 and libaom as they encode for calls: without B-frames, one slice for each frame, and the
/// parameter sets or the sequence header in each keyframe.
struct SyntheticVideo {
  let codec: Codec

  /// Nil for another codec than VP8, H.264, H.265 and AV1.
  init?(_ codec: Codec) {
    guard [.vp8, .h264, .h265, .av1].contains(codec) else { return nil }
    self.codec = codec
  }

  /// Returns a frame in the form of `EncodedFrame`.
  ///
  /// - Parameters:
  ///   - number: counts from 0, the keyframe, to at most 127.
  ///   - size: the bytes of the frame, without the lengths of its units.
  ///   - content: at least as many bytes.
  func frame(_ number: Int, size: Int, content: ArraySlice<UInt8>) -> ByteBuffer {
    switch codec {
    case .h264: h264(number, size: size, content: content)
    case .h265: h265(number, size: size, content: content)
    case .av1: av1(number, size: size, content: content)
    default: vp8(number, size: size, content: content)
    }
  }

  private func vp8(_ number: Int, size: Int, content: ArraySlice<UInt8>) -> ByteBuffer {
    // RFC 6386, 9.1: version 0, shown; for a keyframe also the start code and 640x480.
    let header: [UInt8] =
      number == 0 ? [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01] : [0x11, 0x02, 0x00]
    var frame = ByteBuffer()
    frame.writeBytes(header)
    frame.writeBytes(content.prefix(size - header.count))
    return frame
  }

  private func h264(_ number: Int, size: Int, content: ArraySlice<UInt8>) -> ByteBuffer {
    if number == 0 { return nalUnits(Self.h264Sets, [0x65, 0x88, 0x84, 0x5F], size: size, content: content) }
    // A P slice (7.3.3) with its frame_num of 4 bits.
    let frameNumber = UInt8(number & 15)
    return nalUnits([], [0x41, 0x9A | frameNumber >> 3, frameNumber << 5], size: size, content: content)
  }

  private func h265(_ number: Int, size: Int, content: ArraySlice<UInt8>) -> ByteBuffer {
    if number == 0 { return nalUnits(Self.h265Sets, [0x28, 0x01, 0xAF, 0x15], size: size, content: content) }
    // The first slice segment of a picture (7.3.6.1), P, with its slice_pic_order_cnt_lsb of 8 bits.
    let order = UInt8(number)
    return nalUnits([], [0x02, 0x01, 0xD0 | order >> 5, order << 3 | 1], size: size, content: content)
  }

  private func nalUnits(
    _ sets: [[UInt8]], _ header: [UInt8], size: Int, content: ArraySlice<UInt8>
  ) -> ByteBuffer {
    var frame = ByteBuffer()
    var rest = size - header.count
    for set in sets {
      frame.writeInteger(UInt32(set.count))
      frame.writeBytes(set)
      rest -= set.count
    }
    frame.writeInteger(UInt32(header.count + rest))
    frame.writeBytes(header)
    frame.writeBytes(content.prefix(rest))
    return frame
  }

  private func av1(_ number: Int, size: Int, content: ArraySlice<UInt8>) -> ByteBuffer {
    let isKeyframe = number == 0
    // OBU_SEQUENCE_HEADER, and the beginning of the header of a shown frame (5.9.2).
    let sequence = isKeyframe ? Self.av1Sequence : []
    let header: [UInt8] =
      isKeyframe
      ? [0x10, 0x00, 0x85, 0x60, 0x04, 0x10, 0x41, 0x08] : [0x30, 0x03, 0x80, 0x80, 0xFD, 0xF8, 0x3A, 0x57]
    let count = size - sequence.count
    var frame = ByteBuffer()
    frame.writeBytes(sequence)
    // OBU_FRAME, with its size in three bytes of LEB128.
    frame.writeBytes([0x32, UInt8(count & 0x7F) | 0x80, UInt8(count >> 7 & 0x7F) | 0x80, UInt8(count >> 14)])
    frame.writeBytes(header)
    frame.writeBytes(content.prefix(count - header.count))
    return frame
  }

  /// The sequence and the picture parameter set of x264 in the baseline profile.
  private static let h264Sets: [[UInt8]] = [
    [
      0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x02, 0x80, 0xF6, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04, 0x00, 0x00, 0x03,
      0x00, 0xF0, 0x3C, 0x58, 0xBA, 0x80,
    ],
    [0x68, 0xCE, 0x3C, 0x80],
  ]

  /// The video, the sequence and the picture parameter set of x265.
  private static let h265Sets: [[UInt8]] = [
    [
      0x40, 0x01, 0x0C, 0x01, 0xFF, 0xFF, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00,
      0x03, 0x00, 0x5A, 0xBA, 0x02, 0x40,
    ],
    [
      0x42, 0x01, 0x01, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00, 0x5A,
      0xA0, 0x05, 0x02, 0x01, 0xE1, 0x65, 0xBA, 0x92, 0x4C, 0xAF, 0x01, 0x68, 0x08, 0x00, 0x00, 0x03, 0x00, 0x08,
      0x00, 0x00, 0x03, 0x00, 0xF0, 0x40,
    ],
    [0x44, 0x01, 0xC1, 0x72, 0xB4, 0x62, 0x40],
  ]

  /// The sequence header of libaom, with its header and its size.
  private static let av1Sequence: [UInt8] = [
    0x0A, 0x0B, 0x00, 0x00, 0x00, 0x24, 0xC4, 0xFF, 0xDF, 0x36, 0xBE, 0x40, 0x10,
  ]
}
