/// Divides the available bitrate between audio and video: audio first, because a call without audio is useless.
package struct BitrateAllocation: Sendable, Hashable {
  /// The bitrate of the audio payloads, in bits a second.
  package let audio: Int
  /// The bitrate of the video payloads, in bits a second.
  package let video: Int

  /// The overhead of each packet in bits: RTP header, extensions, payload descriptor and SRTP tag (RFC 3550, 5.1; RFC
  /// 8285; RFC 7741, 4.2; RFC 7714).
  private static let headerBits = 24 * 8
  private static let audioPackets = 50
  /// The payload of a full video packet in bits.
  private static let packetBits = 1_100 * 8
  /// The number of packets a second that are not full, because a frame ends in them.
  private static let shortPackets = 15
  /// The minimum bitrate of an encoder, whatever the available bitrate.
  private static let minimumAudioBitrate = 8_000
  private static let minimumVideoBitrate = 10_000

  /// The minimum available bitrate for each audio bitrate, in bits a second.
  private static let steps = [
    (available: 200_000, audio: 48_000), (available: 110_000, audio: 32_000), (available: 60_000, audio: 24_000),
    (available: 0, audio: 16_000),
  ]

  /// - Parameter total: the available bitrate including packet overhead, in bits a second.
  package init(total: Int, hasAudio: Bool, hasVideo: Bool) {
    let total = min(max(0, total), 1 << 40)
    let audioHeaders = Self.audioPackets * Self.headerBits
    let step = Self.steps.first { total >= $0.available } ?? (available: 0, audio: Self.minimumAudioBitrate)
    let audio = hasAudio ? max(Self.minimumAudioBitrate, min(step.audio, total - audioHeaders)) : 0
    let rest = total - (hasAudio ? audio + audioHeaders : 0) - Self.shortPackets * Self.headerBits
    self.audio = audio
    video = hasVideo ? max(Self.minimumVideoBitrate, rest * Self.packetBits / (Self.packetBits + Self.headerBits)) : 0
  }
}
