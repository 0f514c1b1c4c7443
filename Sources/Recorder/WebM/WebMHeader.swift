import Media
import NIOCore

/// Everything in a WebM file before its first cluster.
///
/// It always takes the same number of bytes, so that it can be written again in one go, whenever something about the file
/// becomes known: a second track, a larger picture, and on close the duration, the cues and the segment's size.
struct WebMHeader: Sendable, Hashable {
  /// What a file says of its sound.
  struct Audio: Sendable, Hashable {
    /// 1 or 2.
    var channels: Int
  }

  static let videoNumber: UInt8 = 1
  static let audioNumber: UInt8 = 2

  /// The largest picture so far; nil while there is no video.
  var video: PictureSize?
  /// Nil while there is no audio.
  var audio: Audio?
  /// When the file's time zero was, in nanoseconds since 2001-01-01 00:00 UTC.
  var date: Int64
  /// In milliseconds; nil while the file grows.
  var duration: Double?
  /// The place of the cues from the start of the file; nil while there are none.
  var cues: Int64?
  /// The whole file's size; nil while it grows.
  var fileSize: Int64?

  /// Where the segment's content begins, in bytes from the start of the file: what positions inside it count from.
  static let segmentStart: Int64 = 48
  /// Where the first cluster begins.
  static let length = Int64(segmentStart) + Int64(seekLength + infoLength + tracksLength)

  private static let seekLength = 96
  private static let infoLength = 104
  private static let tracksLength = 512

  /// The header's bytes; `length` of them.
  var bytes: ByteBuffer {
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
    // The segment's own head is its id of 4 bytes and a size of 8.
    all.fill(to: Int(Self.segmentStart) - 12)
    all.open(.segment, wideSize: fileSize.map { UInt64(max(0, $0 - Self.segmentStart)) })
    let info = Int64(Self.seekLength)
    let tracks = info + Int64(Self.infoLength)
    all.append(seekHead([(.info, info), (.tracks, tracks)] + (cues.map { [(.cues, $0 - Self.segmentStart)] } ?? [])))
    all.append(self.info)
    all.append(self.tracks)
    return all.bytes
  }

  private func seekHead(_ places: [(WebMElement, Int64)]) -> EBMLBuilder {
    var area = EBMLBuilder()
    area.master(.seekHead) { head in
      for (element, position) in places {
        head.master(.seek) { seek in
          seek.binary(.seekID, EBMLBuilder.identifier(of: element))
          seek.wideUnsigned(.seekPosition, UInt64(max(0, position)))
        }
      }
    }
    area.fill(to: Self.seekLength)
    return area
  }

  private var info: EBMLBuilder {
    var area = EBMLBuilder()
    area.master(.info) { info in
      info.unsigned(.timestampScale, 1_000_000)
      if let duration { info.float(.duration, duration) }
      info.date(.dateUTC, nanosecondsSince2001: date)
      info.text(.muxingApp, "chatbot")
      info.text(.writingApp, "chatbot")
    }
    area.fill(to: Self.infoLength)
    return area
  }

  private var tracks: EBMLBuilder {
    var area = EBMLBuilder()
    area.master(.tracks) { tracks in
      if let video { Self.write(video, into: &tracks) }
      if let audio { Self.write(audio, into: &tracks) }
    }
    area.fill(to: Self.tracksLength)
    return area
  }

  private static func write(_ video: PictureSize, into tracks: inout EBMLBuilder) {
    tracks.master(.trackEntry) { entry in
      begin(&entry, number: videoNumber, type: 1, codec: "V_VP8")
      entry.master(.video) { picture in
        picture.unsigned(.pixelWidth, UInt64(max(1, video.width)))
        picture.unsigned(.pixelHeight, UInt64(max(1, video.height)))
      }
    }
  }

  private static func write(_ audio: Audio, into tracks: inout EBMLBuilder) {
    tracks.master(.trackEntry) { entry in
      begin(&entry, number: audioNumber, type: 2, codec: "A_OPUS")
      entry.binary(.codecPrivate, OpusHeader.identification(channels: audio.channels))
      entry.unsigned(.codecDelay, UInt64(OpusHeader.preSkip) * 1_000_000_000 / 48_000)
      // 80 ms: what a decoder needs to find its way after a seek (RFC 7845, 4.6).
      entry.unsigned(.seekPreRoll, 80_000_000)
      entry.master(.audio) { sound in
        sound.float(.samplingFrequency, 48_000)
        sound.unsigned(.channels, UInt64(audio.channels))
      }
    }
  }

  private static func begin(_ entry: inout EBMLBuilder, number: UInt8, type: UInt64, codec: String) {
    entry.unsigned(.trackNumber, UInt64(number))
    entry.unsigned(.trackUID, UInt64(number))
    entry.unsigned(.trackType, type)
    entry.unsigned(.flagLacing, 0)
    entry.text(.language, "und")
    entry.text(.codecID, codec)
  }
}
