import Bitstream
import FileSource
import Media
import MediaMessages
import NIOCore

/// The sound of a recording, as it is.
final class CopiedSound: PacketSource {
  let track: ContainerSettings.Track
  private let reader: PacketReader
  private let rate: Int64
  private var waiting: PacketReader.Packet?
  private let hasTicks: Bool
  /// Where the last packet begins and ends, in samples.
  private var last: Int64?
  private var end: Int64

  init(_ file: OpenFile, _ copied: RemuxPlan.Copied, _ options: RemuxOptions) throws(ComposerFailure) {
    reader = try PacketReader(file, path: options.input, track: copied.index)
    let about = reader.track
    let hasTicks = copied.codec.hasTicksInPackets
    self.hasTicks = hasTicks
    // Opus states the rate of what was recorded, but its times are of 48 kHz.
    let sampleRate = hasTicks ? SoundEncoderSettings.rate : min(max(1, about.sampleRate), MediaLimits.sampleRate)
    rate = Int64(sampleRate)
    waiting = try reader.packet()
    let first = waiting.map { Self.samples($0, hasTicks: hasTicks, rate: Int64(sampleRate)) } ?? 0
    end = -Int64(about.preSkip)
    track = .audio(
      copied.codec, sampleRate: sampleRate, channels: min(max(1, about.channels), MediaLimits.fileChannels),
      frame: Int(min(max(0, first), Int64(MediaLimits.samples))), delay: about.preSkip, privateData: about.extradata)
  }

  private static func samples(_ packet: PacketReader.Packet, hasTicks: Bool, rate: Int64) -> Int64 {
    if hasTicks, let contents = try? OpusTableOfContents(parsing: ByteBuffer(bytes: packet.bytes)) {
      return Int64(contents.duration)
    }
    return packet.about.duration * rate / Int64(MediaLimits.timeRate)
  }

  func next() throws(ComposerFailure) -> EncodedPacket? {
    let present: PacketReader.Packet?
    if let first = waiting.take() { present = first } else { present = try reader.packet() }
    guard let packet = present else { return nil }
    guard !packet.about.isEncrypted else { throw .input("Its sound is encrypted.") }
    let length = Self.samples(packet, hasTicks: hasTicks, rate: rate)
    let stated = packet.time * rate / Int64(MediaLimits.timeRate)
    // Matroska rounds times to a millisecond.
    var start = abs(stated - end) <= rate / 1_000 ? end : stated
    if let last { start = max(start, last + 1) }
    (last, end) = (start, start + length)
    return EncodedPacket(
      pts: start, dts: start, duration: length, isKeyframe: true,
      skipAtEnd: Int(min(packet.about.skipAtEnd * rate / Int64(MediaLimits.timeRate), Int64(MediaLimits.samples))),
      bytes: packet.bytes)
  }
}
