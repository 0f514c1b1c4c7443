/// Names a track of a participant: by the number of its stream and its kind, since a stream has at most one track of each kind.
///
/// Tracks that belong together, such as a camera and its microphone, are a stream (`a=msid`, RFC 8830). The first stream of a
/// participant has the number 1; a second track of a kind in one stream is a stream of its own here.
public struct TrackID: Sendable, Hashable {
  /// The maximum number of streams of a participant.
  package static let maximumStreams = 16

  public var participant: ParticipantID
  /// From 1.
  public var stream: Int
  public var kind: MediaKind

  public init(of participant: ParticipantID, stream: Int = 1, kind: MediaKind) {
    self.participant = participant
    self.stream = stream
    self.kind = kind
  }
}

/// What a participant's description says of one of its streams. Its texts are bounded and printable.
public struct MediaStream: Sendable, Hashable {
  public var owner: ParticipantID
  /// The stream's number among those of the participant, from 1. It stays the same while one of its tracks exists.
  public var number: Int
  /// The stream's id in `a=msid`; nil if the description has none.
  public var id: String?
  /// What the stream shows, where that is known: the value of `a=content` (RFC 4796), for example `slides`, or a description that
  /// the signalling carries.
  public var content: String?
  /// What identifies each track in the description: its mid, or `ssrc:` and its SSRC.
  public var tracks: [MediaKind: String]

  /// The maximum number of bytes of each text.
  package static let maximumTextBytes = 100

  /// - Parameters:
  ///   - id: any text; it is shortened and made printable, as are the others.
  public init(
    owner: ParticipantID, number: Int, id: String? = nil, content: String? = nil, tracks: [MediaKind: String] = [:]
  ) {
    func shown(_ text: String) -> String { text.printable(utf8Bytes: Self.maximumTextBytes) }
    self.owner = owner
    self.number = number
    self.id = id.map(shown)
    self.content = content.map(shown)
    self.tracks = tracks.mapValues(shown)
  }
}

extension Dictionary where Key == TrackID {
  /// The value of the track of a kind in the first stream of a participant, of whom all tracks are.
  package subscript(kind: MediaKind) -> Value? {
    first { $0.key.stream == 1 && $0.key.kind == kind }?.value
  }
}
