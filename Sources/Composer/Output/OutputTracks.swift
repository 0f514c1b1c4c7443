internal import Composition
internal import FileSource
internal import MediaMessages
internal import MediaWorker

/// The video of a composition: the packets of its parts.
final class PartsVideo: PacketSource {
  let track: ContainerSettings.Track
  private let folder: PartsFolder
  private let count: Int
  private var number = 0
  private var reader: PartReader?

  /// - Parameter count: the parts, from 0.
  init(_ folder: PartsFolder, count: Int, _ track: ContainerSettings.Track) {
    self.folder = folder
    self.count = count
    self.track = track
  }

  func next() throws -> EncodedPacket? {
    while number < count {
      let path = folder.part(number)
      guard let reader = reader ?? PartReader(path) else {
        throw ComposerFailure.output("“\(path)” is missing. The same command makes it again.")
      }
      self.reader = reader
      if let packet = try reader.next() { return packet }
      self.reader = nil
      number += 1
    }
    return nil
  }
}

/// The sound of a composition, encoded in one pass while it is written, so that no border of a part can be heard.
final class ComposedSound: PacketSource {
  let track: ContainerSettings.Track
  private let encoder: SoundEncoder
  private let samples: (Int) throws -> [Float]
  private var waiting: ArraySlice<EncodedPacket> = []
  private var isAtEnd = false

  /// - Parameter samples: returns the next samples, interleaved, for each channel as many as it is asked for; none at the end.
  init(_ settings: SoundEncoderSettings, samples: @escaping (Int) throws -> [Float]) throws(MediaWorkerError) {
    encoder = try SoundEncoder(settings)
    track = encoder.track
    self.samples = samples
  }

  func next() throws -> EncodedPacket? {
    while waiting.isEmpty, !isAtEnd {
      let more = try samples(SoundEncoderSettings.rate)
      isAtEnd = more.isEmpty
      waiting = (isAtEnd ? try encoder.finish() : try encoder.encode(more))[...]
    }
    return waiting.popFirst()
  }
}

/// The chat of a composition as subtitles: a message is shown until the next one or its end.
final class ComposedChat: PacketSource {
  let track = ContainerSettings.Track.text(name: "Chat")
  private var packets: ArraySlice<EncodedPacket>

  init(_ messages: [PlannedMessage]) {
    // Subtitles do not overlap: what is shown at a time is one subtitle with all messages of that time.
    let times = Set(messages.flatMap { [$0.start, $0.end] }.map(Self.milliseconds)).sorted()
    var packets: [EncodedPacket] = []
    var (first, shown) = (0, [PlannedMessage]())
    for (start, end) in zip(times, times.dropFirst()) {
      shown.removeAll { Self.milliseconds($0.end) <= start }
      while first < messages.count, Self.milliseconds(messages[first].start) <= start {
        if Self.milliseconds(messages[first].end) > start { shown.append(messages[first]) }
        first += 1
      }
      guard !shown.isEmpty else { continue }
      let lines = shown.suffix(Self.lines).map { "\($0.sender): \($0.text)" }
      packets.append(
        EncodedPacket(
          pts: start, dts: start, duration: end - start, isKeyframe: true,
          bytes: Array(lines.joined(separator: "\n").utf8)))
    }
    self.packets = packets[...]
  }

  /// The maximum number of messages that are shown at a time: the last ones.
  private static let lines = 4

  private static func milliseconds(_ time: Int64) -> Int64 { max(0, time) / (Int64(MediaTimebase.rate) / 1_000) }

  func next() -> EncodedPacket? { packets.popFirst() }
}
