/// What of a line goes to audio and what to frames: audio first, because a call without it is none.
package struct BitrateAllocation: Sendable, Hashable {
  /// Bits a second for the audio's payloads.
  package let audio: Int
  /// Bits a second for the frames' payloads.
  package let video: Int

  /// The bits that RTP adds to each packet: header, extensions, payload descriptor and the tag of SRTP (RFC 3550, 5.1;
  /// RFC 8285; RFC 7741, 4.2; RFC 7714).
  private static let headerBits = 24 * 8
  private static let audioPackets = 50
  /// The bits of frames in a full packet.
  private static let packetBits = 1_100 * 8
  /// How many packets a second are not full, because a frame ends in them.
  private static let shortPackets = 15
  /// The least that is given to an encoder, whatever the line.
  private static let leastAudio = 8_000
  private static let leastVideo = 10_000

  /// What the line must take, in bits a second, for each bitrate of the audio.
  private static let steps = [
    (line: 200_000, audio: 48_000), (line: 110_000, audio: 32_000), (line: 60_000, audio: 24_000),
    (line: 0, audio: 16_000),
  ]

  /// - Parameter total: what the path carries, packet headers included, in bits a second.
  package init(total: Int, hasAudio: Bool, hasVideo: Bool) {
    let total = min(max(0, total), 1 << 40)
    let audioHeaders = Self.audioPackets * Self.headerBits
    let step = Self.steps.first { total >= $0.line } ?? (line: 0, audio: Self.leastAudio)
    let audio = hasAudio ? max(Self.leastAudio, min(step.audio, total - audioHeaders)) : 0
    let rest = total - (hasAudio ? audio + audioHeaders : 0) - Self.shortPackets * Self.headerBits
    self.audio = audio
    video = hasVideo ? max(Self.leastVideo, rest * Self.packetBits / (Self.packetBits + Self.headerBits)) : 0
  }
}
