import Media

/// What a track sends, in the order of time.
protocol SentTrack: AnyObject {
  var codec: Codec { get }

  /// Returns what is sent before a time of the call, in seconds, and was not returned before.
  func pieces(before time: Double) throws -> [SentPiece]
}
