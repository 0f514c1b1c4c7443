import COpus
package import NIOCore

/// Encodes 48 kHz audio to one Opus stream.
package final class OpusEncoder {
  /// The settings of an encoder.
  package struct Settings: Sendable, Hashable {
    /// 1 or 2.
    package var channels = 2
    /// Bits a second, 500 to 512,000.
    package var bitrate = 64_000
    /// 0 (cheapest) to 10 (best).
    package var complexity = 5
    /// Whether each packet carries a copy of the previous one at lower quality (in-band FEC), for use after a loss.
    package var correctsErrors = false
    /// The packet loss to prepare for, in per cent.
    package var expectedLoss = 0
    /// Whether silence is not sent (DTX).
    package var isDiscontinuous = false
    /// Whether to favour intelligible speech over faithful music.
    package var isForSpeech = false
    /// Whether a packet may depend on the previous one. If not, it is larger, but decodes correctly whatever was
    /// decoded before it.
    package var predicts = true

    package init() {}
  }

  /// The possible packet lengths in ticks of 48 kHz, shortest first.
  package static let packetLengths = [120, 240, 480, 960, 1_920, 2_880, 3_840, 4_800, 5_760]

  package let channels: Int
  /// The delay of the decoded audio relative to the input, in ticks of 48 kHz: the pre-skip of a file (RFC 7845, 4.2).
  package let lookahead: Int
  private let state: OpaquePointer

  package init(_ settings: Settings = Settings()) throws(CodecError) {
    let action = "start an Opus encoder for \(settings.channels) channels at \(settings.bitrate) bit/s"
    let application = settings.isForSpeech ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_AUDIO
    var code: Int32 = 0
    let made = opus_encoder_create(48_000, Int32(clamping: settings.channels), application, &code)
    guard let made, code == OPUS_OK else { throw CodecError(action, opus: code) }
    self.state = made
    self.channels = settings.channels
    var lookahead: Int32 = 0
    let codes = [
      chatbot_opus_encoder_set_bitrate(made, Int32(clamping: settings.bitrate)),
      chatbot_opus_encoder_set_complexity(made, Int32(clamping: settings.complexity)),
      chatbot_opus_encoder_set_inband_fec(made, settings.correctsErrors ? 1 : 0),
      chatbot_opus_encoder_set_packet_loss(made, Int32(clamping: settings.expectedLoss)),
      chatbot_opus_encoder_set_dtx(made, settings.isDiscontinuous ? 1 : 0),
      chatbot_opus_encoder_set_prediction_disabled(made, settings.predicts ? 0 : 1),
      chatbot_opus_encoder_get_lookahead(made, &lookahead),
    ]
    self.lookahead = Int(lookahead)
    if let refused = codes.first(where: { $0 != OPUS_OK }) { throw CodecError(action, opus: refused) }
  }

  deinit {
    opus_encoder_destroy(state)
  }

  /// Encodes one packet.
  ///
  /// - Parameter audio: 2.5, 5, 10, 20, 40, 60, 80, 100 or 120 ms, with the encoder's number of channels.
  package func encode(_ audio: AudioSamples) throws(CodecError) -> ByteBuffer {
    let action = "encode \(audio.count) ticks of audio"
    guard audio.channels == channels else {
      throw CodecError(action, "it has \(audio.channels) channels instead of \(channels)")
    }
    var packet = ByteBuffer()
    let room = 1_500
    var code: Int32 = 0
    packet.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { bytes in
      guard let start = bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
      code = opus_encode_float(state, audio.samples, Int32(clamping: audio.count), start, opus_int32(room))
      return max(0, Int(code))
    }
    if code < 0 { throw CodecError(action, opus: code) }
    return packet
  }

  /// Changes the bitrate from the next packet on.
  ///
  /// - Parameter bitrate: bits a second, 500 to 512,000.
  package func setBitrate(_ bitrate: Int) throws(CodecError) {
    let code = chatbot_opus_encoder_set_bitrate(state, Int32(clamping: bitrate))
    if code != OPUS_OK { throw CodecError("set Opus to \(bitrate) bit/s", opus: code) }
  }

  /// Changes the packet loss to prepare for, from the next packet on.
  ///
  /// - Parameter percent: 0 to 100.
  package func setExpectedLoss(_ percent: Int) throws(CodecError) {
    let code = chatbot_opus_encoder_set_packet_loss(state, Int32(clamping: percent))
    if code != OPUS_OK { throw CodecError("prepare Opus for a loss of \(percent) %", opus: code) }
  }

  /// Changes whether each packet carries a copy of the previous one, from the next packet on.
  package func setCorrectsErrors(_ corrects: Bool) throws(CodecError) {
    let code = chatbot_opus_encoder_set_inband_fec(state, corrects ? 1 : 0)
    if code != OPUS_OK { throw CodecError("switch Opus's error correction \(corrects ? "on" : "off")", opus: code) }
  }
}
