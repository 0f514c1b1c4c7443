import FileSource
import Media

/// Video of a file that is sent as stored, beside audio that is encoded while it plays.
struct StoredVideoPlan: Sendable {
  /// A description, for example `H.264 640x480, 300 frames in 10.00 s`.
  var summary: String
  var codec: Codec
  var size: VideoSize?
  /// The number of frames in each round.
  var frames: Int
  /// The input's time of the reader's zero, in units of `MediaTimebase.rate`.
  var offset: Int64
  /// From the start of the first frame to the end of the last one, in units of `MediaTimebase.rate`.
  var range: Range<Int64>
  /// Opens a reader at the start.
  var open: @Sendable () throws(InputError) -> TrackReader

  /// - Parameters:
  ///   - track: a track of the file whose frames are in the order in which they are shown.
  ///   - origin: the file's time that is the input's zero.
  init?(_ stored: StoredFile, _ track: StoredTrack, origin: Int64) {
    guard track.codec.kind == .video else { return nil }
    summary = track.description
    codec = track.codec
    size = track.size
    frames = track.frames
    offset = stored.origin - origin
    range = track.start - origin..<max(track.start + 1, track.end) - origin
    open = { () throws(InputError) in
      try refusing { () throws(MediaFile.ReadError) in try stored.reader(of: track) }
    }
  }
}
