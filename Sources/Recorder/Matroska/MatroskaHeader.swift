package import Media
import NIOCore

/// Everything in a WebM file before its first cluster.
///
/// It is written again whenever something about the file becomes known: a second track, a larger frame, and on close
/// the duration, the cues and the segment's size. The program can be killed in the middle of that, so
/// - it always has the same length, less than a sector of any disk;
/// - unknown values are present as well, inside a void element that differs from the real one only in its first byte.
///   New values are written while they are hidden (`bytes(showing:)`), and then shown. Any prefix of such a write,
///   followed by the old bytes, is a readable header.
package struct MatroskaHeader: Sendable, Hashable {
  /// The video track's description.
  package struct Video: Sendable, Hashable {
    package var codec: Codec
    /// The largest frame so far.
    package var size: VideoSize

    package init(codec: Codec, size: VideoSize) {
      self.codec = codec
      self.size = size
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
  /// The offset of the first cluster.
  package static let length = Int64(segmentStart) + Int64(seekLength + infoLength + tracksLength)

  private static let seekLength = 108
  private static let infoLength = 64
  private static let videoLength = 48
  private static let audioLength = 96
  private static let tracksLength = 292

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
  /// - Parameter length: more than ``length`` if the file has a longer header.
  func bytes(showing parts: Parts, length: Int64 = Self.length) -> ByteBuffer {
    var all = EBMLBuilder()
    all.master(.ebml) { ebml in
      ebml.unsigned(.ebmlVersion, 1)
      ebml.unsigned(.ebmlReadVersion, 1)
      ebml.unsigned(.ebmlMaxIDLength, 4)
      ebml.unsigned(.ebmlMaxSizeLength, 8)
      ebml.text(.docType, "webm")
      ebml.unsigned(.docTypeVersion, 4)
      ebml.unsigned(.docTypeReadVersion, 2)
    }
    // The segment's id has 4 bytes, and its size 8.
    all.fill(to: Int(Self.segmentStart) - 12)
    all.open(.segment, wideSize: fileSize.map { UInt64(max(0, $0 - Self.segmentStart)) })
    all.append(seekHead(showingCues: parts.contains(.cues)))
    all.append(info(showingDuration: parts.contains(.duration)))
    all.append(tracks(showing: parts))
    all.fill(to: Int(length))
    return all.bytes
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
      // The id and the size of a track entry have one byte each, like those of a void element.
      var first = EBMLBuilder()
      Self.write(
        video ?? Video(codec: .preferred(for: .video), size: VideoSize(width: 1, height: 1)), into: &first)
      first.fill(to: Self.videoLength)
      tracks.append(first, hidden: !parts.contains(.video))
      var second = EBMLBuilder()
      Self.write(audio ?? Audio(codec: .preferred(for: .audio), channels: 1), into: &second)
      second.fill(to: Self.audioLength)
      tracks.append(second, hidden: !parts.contains(.audio))
    }
    area.fill(to: Self.tracksLength)
    return area
  }

  private static func write(_ video: Video, into tracks: inout EBMLBuilder) {
    tracks.master(.trackEntry) { entry in
      begin(&entry, number: videoNumber, type: 1, codec: video.codec)
      entry.master(.video) { element in
        element.shortUnsigned(.pixelWidth, UInt16(clamping: max(1, video.size.width)))
        element.shortUnsigned(.pixelHeight, UInt16(clamping: max(1, video.size.height)))
      }
    }
  }

  private static func write(_ audio: Audio, into tracks: inout EBMLBuilder) {
    tracks.master(.trackEntry) { entry in
      begin(&entry, number: audioNumber, type: 2, codec: audio.codec)
      entry.binary(.codecPrivate, OpusHeader.identification(channels: audio.channels))
      entry.unsigned(.codecDelay, UInt64(OpusHeader.preSkip) * 1_000_000_000 / 48_000)
      // 80 ms: the time that a decoder needs to converge after a seek (RFC 7845, 4.6).
      entry.unsigned(.seekPreRoll, 80_000_000)
      entry.master(.audio) { element in
        if let rate = audio.codec.properties.sampleRate { element.float(.samplingFrequency, Double(rate)) }
        element.unsigned(.channels, UInt64(audio.channels))
      }
    }
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
