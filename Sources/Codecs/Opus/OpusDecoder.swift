import COpus
package import NIOCore

/// Decodes one Opus stream to 48 kHz.
package final class OpusDecoder {
  /// The longest packet, 120 ms, in ticks of 48 kHz (RFC 6716, 3.2.5).
  package static let maximumPacketSamples = 5_760

  package let channels: Int
  private let state: OpaquePointer

  /// - Parameter channels: the number of output channels, 1 or 2, regardless of the packets.
  package init(channels: Int = 2) throws(CodecError) {
    var code: Int32 = 0
    let made = opus_decoder_create(48_000, Int32(clamping: channels), &code)
    guard let made, code == OPUS_OK else {
      throw CodecError("start an Opus decoder for \(channels) channels", opus: code)
    }
    self.state = made
    self.channels = channels
  }

  deinit {
    opus_decoder_destroy(state)
  }

  /// Decodes one whole packet.
  package func decode(_ packet: ByteBuffer) throws(CodecError) -> AudioSamples {
    let action = "decode an Opus packet of \(packet.readableBytes) bytes"
    if packet.readableBytes == 0 { throw CodecError(action, "it is empty") }
    return try decode(packet, room: Self.maximumPacketSamples, correction: false, action)
  }

  /// Recovers the lost packet before `next` from the redundant copy at lower quality that `next` may carry (RFC 6716,
  /// 2.1.7); without a copy, the loss is concealed. `next` must be decoded afterwards as usual.
  ///
  /// - Parameter duration: the length of the lost packet in ticks of 48 kHz, a multiple of 120.
  package func recover(duration: Int, before next: ByteBuffer) throws(CodecError) -> AudioSamples {
    try decode(next, room: duration, correction: true, "recover \(duration) ticks of lost Opus")
  }

  /// Generates audio to conceal a lost packet.
  ///
  /// - Parameter duration: in ticks of 48 kHz, a multiple of 120, at most 5,760.
  package func conceal(duration: Int) throws(CodecError) -> AudioSamples {
    try decode(nil, room: duration, correction: false, "conceal \(duration) ticks of lost Opus")
  }

  private func decode(
    _ packet: ByteBuffer?, room: Int, correction: Bool, _ action: String
  ) throws(CodecError) -> AudioSamples {
    guard (1...Self.maximumPacketSamples).contains(room) else {
      throw CodecError(action, "that is not 1 to 5760 ticks")
    }
    var code: Int32 = 0
    let samples = [Float](unsafeUninitializedCapacity: room * channels) { output, count in
      guard let start = output.baseAddress else { return }
      if let packet {
        code = packet.withUnsafeReadableBytes { bytes in
          opus_decode_float(
            state, bytes.bindMemory(to: UInt8.self).baseAddress, opus_int32(clamping: bytes.count),
            start, Int32(room), correction ? 1 : 0)
        }
      } else {
        code = opus_decode_float(state, nil, 0, start, Int32(room), 0)
      }
      count = max(0, Int(code)) * channels
    }
    if code < 0 { throw CodecError(action, opus: code) }
    return AudioSamples(samples: samples, channels: channels)
  }
}
