package import Media
package import NIOCore

/// Everything in a WebM or Matroska file before its first cluster.
///
/// It is written again whenever something about the file becomes known: a second track, a larger frame, and on close
/// the duration, the cues and the segment's size. The program can be killed in the middle of that, so
/// - it always has the same length, and so has each part of it: a track's entry has the room that its ``Layout`` states, and ends
///   with a void element if it needs less;
/// - unknown values are present as well, inside a void element that differs from the real one only in its first byte.
///   New values are written while they are hidden (`bytes(showing:)`), and then shown. Any prefix of such a write,
///   followed by the old bytes, is a readable header.
///
/// What is shown changes by bytes that may be torn: the size of the video, the number of channels.
package struct MatroskaHeader: Sendable, Hashable {
  /// What the file says that it is (RFC 9559, 4.1).
  package enum DocumentType: String, Sendable, Hashable {
    /// A subset of Matroska for some codecs, which browsers play.
    case webM = "webm"
    case matroska

    /// Whether a file of this type can have a track of a codec.
    package func allows(_ codec: Codec) -> Bool {
      self == .matroska || codec.properties.isAllowedInWebM
    }
  }

  /// The video track's description.
  package struct Video: Sendable, Hashable {
    package var codec: Codec
    /// The largest frame so far.
    package var size: VideoSize
    /// What a decoder needs before the first frame; nil if the codec has nothing of that kind.
    package var codecPrivate: ByteBuffer?
    /// How a player turns the frames.
    package var orientation: VideoOrientation

    package init(
      codec: Codec, size: VideoSize, codecPrivate: ByteBuffer? = nil, orientation: VideoOrientation = .upright
    ) {
      self.codec = codec
      self.size = size
      self.codecPrivate = codecPrivate
      self.orientation = orientation
    }
  }

  /// The audio track's description.
  package struct Audio: Sendable, Hashable {
    package var codec: Codec
    /// 1 or 2.
    package var channels: Int

    package init(codec: Codec, channels: Int) {
      self.codec = codec
      self.channels = channels
    }
  }

  /// The lengths of the tracks' entries in bytes, ids and sizes included. They are chosen before the file is created, and stay.
  package struct Layout: Sendable, Hashable {
    package var video = 48
    package var audio = 96

    /// With space for any video track.
    static let maximum = Layout(video: 96 + CodecPrivate.maximumLength)
    /// The same for the codecs of WebM, in a header of the usual length.
    static let maximumOfWebM = Layout(video: 188)
  }

  /// The parts that are not hidden.
  struct Parts: OptionSet, Sendable, Hashable {
    let rawValue: Int

    static let video = Parts(rawValue: 1)
    static let audio = Parts(rawValue: 2)
    static let duration = Parts(rawValue: 4)
    static let cues = Parts(rawValue: 8)
  }

  /// The number of the video track in each block; the audio track's is ``audioNumber``.
  package static let videoNumber: UInt8 = 1
  package static let audioNumber: UInt8 = 2

  package var documentType = DocumentType.webM
  package var layout = Layout()
  /// Nil while there is no video.
  package var video: Video?
  /// Nil while there is no audio.
  package var audio: Audio?
  /// The wall clock at the file's time zero, in nanoseconds since 2001-01-01 00:00 UTC.
  package var date: Int64
  /// In milliseconds; nil while the file grows.
  package var duration: Double?
  /// The offset of the cues from the start of the file; nil while there are none.
  package var cues: Int64?
  /// The whole file's size; nil while it grows.
  var fileSize: Int64?

  /// The offset of the segment's content from the start of the file; positions in the segment count from it.
  package static let segmentStart: Int64 = 48
  /// The length of a header with the usual layout, and the minimum.
  package static let length = tracksStart + Int64(tracksLength)
  /// The offset of the first cluster.
  package var length: Int64 { Self.tracksStart + Int64(tracksLength) }
  /// The offset of the description of the tracks. What lies before it does not depend on them.
  static let tracksStart = segmentStart + Int64(seekLength + infoLength)

  private static let seekLength = 108
  private static let infoLength = 64
  private static let tracksLength = 292

  private var tracksLength: Int {
    // Its id and size, and the entries.
    let needed = 6 + layout.video + layout.audio
    return needed == Self.tracksLength ? needed : max(Self.tracksLength, needed + 2)
  }

  /// The parts whose values are known.
  var known: Parts {
    var parts: Parts = []
    if video != nil { parts.insert(.video) }
    if audio != nil { parts.insert(.audio) }
    if duration != nil { parts.insert(.duration) }
    if cues != nil { parts.insert(.cues) }
    return parts
  }

  /// The header's bytes; `length` of them.
  var bytes: ByteBuffer { bytes(showing: known) }

  /// Returns the header, with all parts except `parts` hidden.
  ///
  /// - Parameter length: more than ``length`` if the file has a longer header; nil for ``length``.
  func bytes(showing parts: Parts, length: Int64? = nil) -> ByteBuffer {
    var all = EBMLBuilder()
    all.master(.ebml) { ebml in
      ebml.unsigned(.ebmlVersion, 1)
      ebml.unsigned(.ebmlReadVersion, 1)
      // 4 is the default, too; the longer name takes its place.
      if documentType == .webM { ebml.unsigned(.ebmlMaxIDLength, 4) }
      ebml.unsigned(.ebmlMaxSizeLength, 8)
      ebml.text(.docType, documentType.rawValue)
      ebml.unsigned(.docTypeVersion, 4)
      ebml.unsigned(.docTypeReadVersion, 2)
    }
    // The segment's id has 4 bytes, and its size 8.
    all.fill(to: Int(Self.segmentStart) - 12)
    all.open(.segment, wideSize: fileSize.map { UInt64(max(0, $0 - Self.segmentStart)) })
    all.append(seekHead(showingCues: parts.contains(.cues)))
    all.append(info(showingDuration: parts.contains(.duration)))
    all.append(tracks(showing: parts))
    all.fill(to: Int(length ?? self.length))
    return all.bytes
  }

  /// Returns the part of the header before the tracks.
  func beginning(showing parts: Parts) -> ByteBuffer {
    let all = bytes(showing: parts)
    return all.getSlice(at: all.readerIndex, length: Int(Self.tracksStart)) ?? all
  }

  private func seekHead(showingCues: Bool) -> EBMLBuilder {
    var area = EBMLBuilder()
    area.master(.seekHead) { head in
      Self.write(position: Int64(Self.seekLength), of: .info, into: &head)
      Self.write(position: Int64(Self.seekLength + Self.infoLength), of: .tracks, into: &head)
      var last = EBMLBuilder()
      Self.write(position: (cues ?? 0) - Self.segmentStart, of: .cues, into: &last)
      // The second byte of a seek entry's id, 0xBB, is the size of 59 bytes when the first one is that of a void
      // element.
      last.fill(to: 2 + 59)
      head.append(last, hidden: !showingCues)
    }
    area.fill(to: Self.seekLength)
    return area
  }

  private static func write(position: Int64, of element: MatroskaElement, into head: inout EBMLBuilder) {
    head.master(.seek) { seek in
      seek.binary(.seekID, EBMLBuilder.identifier(of: element))
      seek.wideUnsigned(.seekPosition, UInt64(max(0, position)))
    }
  }

  private func info(showingDuration: Bool) -> EBMLBuilder {
    var area = EBMLBuilder()
    area.master(.info) { info in
      info.unsigned(.timestampScale, 1_000_000)
      var length = EBMLBuilder()
      // The second byte of its id, 0x89, is the size of the 9 bytes after it when the first one is that of a void
      // element.
      length.float(.duration, duration ?? 0)
      info.append(length, hidden: !showingDuration)
      info.date(.dateUTC, nanosecondsSince2001: date)
      info.text(.muxingApp, "chatbot")
      info.text(.writingApp, "chatbot")
    }
    area.fill(to: Self.infoLength)
    return area
  }

  private func tracks(showing parts: Parts) -> EBMLBuilder {
    var area = EBMLBuilder()
    area.master(.tracks) { tracks in
      let video = video ?? Video(codec: .preferred(for: .video), size: VideoSize(width: 1, height: 1))
      tracks.append(
        Self.entry(of: Self.content(of: video), length: layout.video), hidden: !parts.contains(.video))
      let audio = audio ?? Audio(codec: .preferred(for: .audio), channels: 1)
      tracks.append(
        Self.entry(of: Self.content(of: audio), length: layout.audio), hidden: !parts.contains(.audio))
    }
    area.fill(to: tracksLength)
    return area
  }

  /// Returns the length of the video track's entry, at least the usual one.
  package static func entryLength(of video: Video) -> Int {
    let needed = content(of: video).count
    return (Layout().video...).first { room(inEntryOf: $0) == needed || room(inEntryOf: $0) >= needed + 2 } ?? needed
  }

  /// The bytes inside an entry: without the id of one byte, and the size of one or two.
  private static func room(inEntryOf length: Int) -> Int { length - (length - 2 < 0x7F ? 2 : 3) }

  /// Returns a track entry of a length. Its id has one byte, and its size as many as that of a void element of the same length.
  private static func entry(of content: EBMLBuilder, length: Int) -> EBMLBuilder {
    var content = content
    content.fill(to: room(inEntryOf: length))
    var entry = EBMLBuilder()
    entry.binary(.trackEntry, content.bytes, sizeLength: length - 1 - room(inEntryOf: length))
    return entry
  }

  private static func content(of video: Video) -> EBMLBuilder {
    var entry = EBMLBuilder()
    begin(&entry, number: videoNumber, type: 1, codec: video.codec)
    entry.master(.video) { element in
      element.shortUnsigned(.pixelWidth, UInt16(clamping: max(1, video.size.width)))
      element.shortUnsigned(.pixelHeight, UInt16(clamping: max(1, video.size.height)))
      write(video.orientation, into: &element)
    }
    if let codecPrivate = video.codecPrivate { entry.binary(.codecPrivate, codecPrivate) }
    return entry
  }

  /// Writes how a player turns the frames, if it is to turn them (RFC 9559, 5.1.4.1.28.41): players mirror them by the yaw, then turn
  /// them counter-clockwise by the roll.
  private static func write(_ orientation: VideoOrientation, into video: inout EBMLBuilder) {
    if orientation == .upright { return }
    let clockwise = orientation.rotation > 180 ? orientation.rotation - 360 : orientation.rotation
    video.master(.projection) { projection in
      projection.unsigned(.projectionType, 0)
      // To mirror a frame first and to turn it clockwise then is to turn it counter-clockwise first and to mirror it then.
      if orientation.isMirrored { projection.shortFloat(.projectionPoseYaw, 180) }
      projection.shortFloat(.projectionPoseRoll, Float(orientation.isMirrored ? clockwise : -clockwise))
    }
  }

  private static func content(of audio: Audio) -> EBMLBuilder {
    var entry = EBMLBuilder()
    begin(&entry, number: audioNumber, type: 2, codec: audio.codec)
    if let codecPrivate = CodecPrivate.of(audio) { entry.binary(.codecPrivate, codecPrivate) }
    if let delay = CodecPrivate.delay(of: audio.codec) {
      entry.unsigned(.codecDelay, delay.start)
      entry.unsigned(.seekPreRoll, delay.seek)
    }
    entry.master(.audio) { element in
      if let rate = audio.codec.properties.sampleRate { element.float(.samplingFrequency, Double(rate)) }
      element.unsigned(.channels, UInt64(audio.channels))
    }
    return entry
  }

  private static func begin(_ entry: inout EBMLBuilder, number: UInt8, type: UInt64, codec: Codec) {
    entry.unsigned(.trackNumber, UInt64(number))
    entry.unsigned(.trackUID, UInt64(number))
    entry.unsigned(.trackType, type)
    entry.unsigned(.flagLacing, 0)
    entry.text(.language, "und")
    entry.text(.codecID, codec.properties.matroskaID)
  }
}
