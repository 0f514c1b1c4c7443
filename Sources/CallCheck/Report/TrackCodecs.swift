package import Media

/// The codecs of the tracks of a stream, by what arrived, whether or not it could be decoded.
public struct TrackCodecs: Sendable, Hashable, Codable {
  /// The codecs of each track, in the order in which they were used; nil if no frame of it arrived.
  public var audio: [TrackCodec]?
  public var video: [TrackCodec]?

  package init(audio: [TrackCodec]? = nil, video: [TrackCodec]? = nil) {
    self.audio = audio
    self.video = video
  }

  package subscript(kind: MediaKind) -> [TrackCodec]? {
    switch kind {
    case .audio: audio
    case .video: video
    }
  }
}

/// A codec that a track used, or another profile of it.
public struct TrackCodec: Sendable, Hashable, Codable {
  /// When the first frame of it arrived, in seconds.
  public var time: Double
  /// The codec as rules name it, for example `h264`.
  public var codec: String
  /// Its profile and level by the frames themselves, as in RFC 6381, for example `avc1.42e01f`; nil if they do not say.
  public var profile: String?

  package init(time: Double, codec: String, profile: String? = nil) {
    self.time = time
    self.codec = codec
    self.profile = profile
  }

  /// The codec for people, for example "H.264 (avc1.42e01f)". A name that no codec has is that of another program's report.
  package var title: String {
    let name = Codec(rawValue: codec)?.properties.name ?? ReportText.line(codec, limit: 20)
    return name + (profile.map { " (\(ReportText.line($0, limit: 20)))" } ?? "")
  }
}

extension [TrackCodec] {
  /// All of them for people, for example "VP8, then H.264 (avc1.42e01f)".
  package var title: String { map(\.title).joined(separator: ", then ") }
}
