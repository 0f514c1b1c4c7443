import FileSource
import Media
import MediaMessages
import NIOCore

/// The video of a recording, as it is.
final class CopiedVideo: PacketSource {
  /// Units in a second of what is written.
  private static let rate = 90_000

  let track: ContainerSettings.Track
  let frames: Int
  private let reader: PacketReader
  private let order: DecodingOrder
  /// What is left out of frames; nil if nothing is.
  private let sets: ParameterSets?
  private var index = 0
  private var last: Int64?

  /// Reads the whole track once.
  ///
  /// - Throws: also if the container cannot hold what it has.
  init(_ file: OpenFile, _ copied: RemuxPlan.Copied, _ options: RemuxOptions) throws(ComposerFailure) {
    let survey = try PacketReader(file, path: options.input, track: copied.index)
    let about = survey.track
    let statesOnce = copied.codec.hasParameterSets && options.format.statesParameterSetsOnce
    let bitstream = Codec(ffmpeg: about.codec)?.properties.bitstream
    var sets = statesOnce ? ParameterSets(bitstream, privateData: about.extradata) : nil
    var times: [Int64] = []
    while let packet = try survey.packet() {
      guard !packet.about.isEncrypted else { throw .input("\(options.input): its video is encrypted.") }
      times.append(packet.time / Self.unit)
      sets?.check(ByteBuffer(bytes: packet.bytes))
      if sets?.haveChanged == true {
        throw .input(
          "\(options.input): the parameters of its \(copied.codec.title) change\(Self.list(sets?.sizes ?? [])), which most players "
            + "of .\(options.format.ending) files cannot follow. “\(RemuxPlan.composing(options))” encodes it; a .mkv file holds it "
            + "as it is.")
      }
    }
    guard !times.isEmpty else { throw .input("\(options.input): its video has no frames.") }
    self.sets = sets
    order = DecodingOrder(times)
    frames = times.count
    reader = try PacketReader(file, path: options.input, track: copied.index)
    track = .video(
      copied.codec, width: min(about.width, MediaLimits.side), height: min(about.height, MediaLimits.side),
      unit: (1, Self.rate), privateData: sets?.privateData ?? about.extradata, rotation: about.rotation,
      isMirrored: about.isMirrored)
  }

  /// Units of a file's times in one of those that are written.
  private static let unit = Int64(MediaLimits.timeRate / rate)

  private static func list(_ sizes: [String]) -> String {
    sizes.count < 2 ? "" : " (\(sizes.joined(separator: ", then ")))"
  }

  func next() throws(ComposerFailure) -> EncodedPacket? {
    guard let packet = try reader.packet() else { return nil }
    defer { index += 1 }
    var bytes = packet.bytes
    if let sets { bytes = Array(sets.removed(from: ByteBuffer(bytes: bytes)).readableBytesView) }
    // Two frames of one time would be one.
    let decoded = max(order.time(of: index), last.map { $0 + 1 } ?? .min)
    last = decoded
    return EncodedPacket(
      pts: max(packet.time / Self.unit, decoded), dts: decoded, duration: packet.about.duration / Self.unit,
      isKeyframe: packet.about.isKeyframe, bytes: bytes)
  }
}
