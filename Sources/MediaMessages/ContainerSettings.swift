/// The file formats that a worker writes. The raw values are those of the messages.
package enum ContainerFormat: UInt8, Sendable, Hashable, CaseIterable {
  case mp4 = 1
  case mov = 2
  case webm = 3
  case mkv = 4
  /// MP4 with audio only.
  case m4a = 5
  case ogg = 6
  case wav = 7

  /// The ending of a file's name, without the dot.
  package var ending: String {
    switch self {
    case .mp4: "mp4"
    case .mov: "mov"
    case .webm: "webm"
    case .mkv: "mkv"
    case .m4a: "m4a"
    case .ogg: "ogg"
    case .wav: "wav"
    }
  }

  /// - Parameter ending: without the dot; upper and lower case are the same.
  package init?(ending: String) {
    guard let found = Self.allCases.first(where: { $0.ending == ending.lowercased() }) else { return nil }
    self = found
  }

  /// The codecs that it can hold.
  package var codecs: [TrackCodec] { TrackCodec.allCases.filter { $0.containers.contains(self) } }
}

/// A file that a worker writes. The bytes of the file depend on this and on the packets only: there is neither time nor chance in them.
package struct ContainerSettings: Sendable, Hashable {
  package struct Track: Sendable, Hashable {
    package var codec: TrackCodec
    /// The unit of its packets' times in seconds, as a fraction: 1/30 for frames of 30 in a second, 1/48000 for samples.
    package var unitNumerator: Int
    package var unitDenominator: Int
    /// The size of frames; 0 for other tracks.
    package var width: Int
    package var height: Int
    /// Whether the colours are those of ITU-R BT.601, as in a composition; otherwise nothing is said of them.
    package var isBT601: Bool
    /// By how many degrees a player turns frames clockwise: 0, 90, 180 or 270.
    package var rotation: Int
    /// Whether a player mirrors frames, left to right, before it turns them.
    package var isMirrored = false
    /// In Hz, and the number of channels; 0 for other tracks.
    package var sampleRate: Int
    package var channels: Int
    /// The samples of a packet; 0 if they differ or are not known.
    package var frame: Int
    /// The decoded samples of each channel at the start that are not heard. The first packet then has the time of minus so many.
    package var delay: Int
    /// What a decoder needs before the first packet: the encoder's private data.
    package var privateData: [UInt8]
    /// Of the sound or the subtitles, ISO 639-2; empty if it is not known.
    package var language: String
    /// What players show in a list of tracks.
    package var name: String

    package static func video(
      _ codec: TrackCodec, width: Int, height: Int, unit: (numerator: Int, denominator: Int), privateData: [UInt8],
      rotation: Int = 0, isMirrored: Bool = false, isBT601: Bool = false
    ) -> Track {
      Track(
        codec: codec, unitNumerator: unit.numerator, unitDenominator: unit.denominator, width: width, height: height,
        isBT601: isBT601, rotation: rotation, isMirrored: isMirrored, sampleRate: 0, channels: 0, frame: 0, delay: 0,
        privateData: privateData,
        language: "",
        name: "")
    }

    /// - Parameter unitRate: how many units of time a second has; nil for the sample rate.
    package static func audio(
      _ codec: TrackCodec, sampleRate: Int = 48_000, channels: Int, frame: Int, delay: Int, privateData: [UInt8],
      unitRate: Int? = nil
    ) -> Track {
      Track(
        codec: codec, unitNumerator: 1, unitDenominator: unitRate ?? sampleRate, width: 0, height: 0, isBT601: false,
        rotation: 0,
        sampleRate: sampleRate, channels: channels, frame: frame, delay: delay, privateData: privateData, language: "",
        name: "")
    }

    /// Subtitles; their times are in milliseconds.
    package static func text(language: String = "", name: String = "") -> Track {
      Track(
        codec: .text, unitNumerator: 1, unitDenominator: 1_000, width: 0, height: 0, isBT601: false, rotation: 0,
        sampleRate: 0,
        channels: 0, frame: 0, delay: 0, privateData: [], language: language, name: name)
    }
  }

  /// A chapter, in milliseconds from the start of the file.
  package struct Chapter: Sendable, Hashable {
    package var start: Int64
    package var end: Int64
    package var title: String

    package init(start: Int64, end: Int64, title: String) {
      (self.start, self.end, self.title) = (start, end, title)
    }
  }

  package var format: ContainerFormat
  package var tracks: [Track]
  package var chapters: [Chapter]
  /// Of the whole file; empty for none.
  package var title: String
  /// Whether the index is moved to the front at the end, where the format has one at the end.
  package var hasIndexInFront: Bool

  package init(
    format: ContainerFormat, tracks: [Track], chapters: [Chapter] = [], title: String = "",
    hasIndexInFront: Bool = true
  ) {
    self.format = format
    self.tracks = tracks
    self.chapters = chapters
    self.title = title
    self.hasIndexInFront = hasIndexInFront
  }

  package init(parsing bytes: UnsafeRawBufferPointer) throws(MessageError) {
    var reader = BulkReader(bytes)
    guard let format = ContainerFormat(rawValue: UInt8(clamping: try reader.number())) else {
      throw MessageError("there is no such container")
    }
    self.init(format: format, tracks: [], title: try reader.unicode(), hasIndexInFront: try reader.number() != 0)
    for _ in 0..<(try reader.number(upTo: MediaLimits.tracks)) { tracks.append(try Track(&reader)) }
    for _ in 0..<(try reader.number(upTo: MediaLimits.chapters)) {
      let (start, end) = (try reader.time().boundedTime, try reader.time().boundedTime)
      chapters.append(Chapter(start: start, end: end, title: try reader.unicode()))
    }
  }

  package var encoded: [UInt8] {
    var writer = MessageWriter()
    writer.number(Int(format.rawValue))
    writer.unicode(title)
    writer.number(hasIndexInFront ? 1 : 0 as Int)
    let tracks = tracks.prefix(MediaLimits.tracks)
    writer.number(tracks.count)
    for track in tracks { track.write(to: &writer) }
    let chapters = chapters.prefix(MediaLimits.chapters)
    writer.number(chapters.count)
    for chapter in chapters {
      writer.time(chapter.start)
      writer.time(chapter.end)
      writer.unicode(chapter.title)
    }
    return writer.bytes
  }
}

extension ContainerSettings.Track {
  fileprivate init(_ reader: inout BulkReader) throws(MessageError) {
    guard let codec = TrackCodec(rawValue: UInt8(clamping: try reader.number())) else {
      throw MessageError("there is no such codec")
    }
    var numbers: [Int] = []
    for _ in 0..<11 { numbers.append(try reader.number()) }
    self.init(
      codec: codec, unitNumerator: numbers[0], unitDenominator: numbers[1], width: numbers[2], height: numbers[3],
      isBT601: numbers[9] != 0, rotation: numbers[4], isMirrored: numbers[10] != 0, sampleRate: numbers[5],
      channels: numbers[6], frame: numbers[7], delay: numbers[8], privateData: [], language: try reader.unicode(),
      name: try reader.unicode())
    privateData = try reader.bytes(try reader.number(upTo: MediaLimits.extradataBytes))
    guard (1...1_000_000).contains(unitNumerator), (1...1_000_000).contains(unitDenominator),
      width <= MediaLimits.side, height <= MediaLimits.side, rotation <= 270, rotation.isMultiple(of: 90),
      sampleRate <= MediaLimits.sampleRate, channels <= MediaLimits.fileChannels, frame <= MediaLimits.samples,
      delay <= MediaLimits.samples
    else { throw MessageError("a track is not within the limits") }
  }

  fileprivate func write(to writer: inout MessageWriter) {
    writer.number(Int(codec.rawValue))
    for number in [
      unitNumerator, unitDenominator, width, height, rotation, sampleRate, channels, frame, delay,
      isBT601 ? 1 : 0, isMirrored ? 1 : 0,
    ] { writer.number(number) }
    writer.unicode(language)
    writer.unicode(name)
    let data = privateData.count <= MediaLimits.extradataBytes ? privateData : []
    writer.number(data.count)
    for byte in data { writer.byte(byte) }
  }
}

extension MediaLimits {
  /// The maximum number of chapters of a file, and of bytes of a title.
  package static let chapters = 20_000
  package static let titleBytes = 400
}
