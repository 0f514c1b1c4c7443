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

/// The chat of a composition as subtitles.
final class ComposedChat: PacketSource {
  let track = ContainerSettings.Track.text(name: "Chat")
  private var packets: ArraySlice<EncodedPacket>

  init(_ subtitles: [PlannedSubtitle]) {
    packets =
      subtitles.compactMap { subtitle in
        let (start, end) = (Self.milliseconds(subtitle.start), Self.milliseconds(subtitle.end))
        if start >= end { return nil }
        return EncodedPacket(
          pts: start, dts: start, duration: end - start, isKeyframe: true,
          bytes: Array(subtitle.lines.joined(separator: "\n").utf8))
      }[...]
  }

  private static func milliseconds(_ time: Int64) -> Int64 { max(0, time) / (Int64(MediaTimebase.rate) / 1_000) }

  func next() -> EncodedPacket? { packets.popFirst() }
}
