/// A value for audio and one for video: what a dictionary by ``MediaKind`` holds, without hashing and in place.
package struct PerMediaKind<Value> {
  package var audio: Value?
  package var video: Value?

  package init() {}

  package subscript(kind: MediaKind) -> Value? {
    _read {
      switch kind {
      case .audio: yield audio
      case .video: yield video
      }
    }
    _modify {
      switch kind {
      case .audio: yield &audio
      case .video: yield &video
      }
    }
  }

  package func mapValues<Other>(_ transform: (Value) -> Other) -> [MediaKind: Other] {
    var values: [MediaKind: Other] = [:]
    values[.audio] = audio.map(transform)
    values[.video] = video.map(transform)
    return values
  }
}

extension PerMediaKind: Sendable where Value: Sendable {}
