import Codecs
import FileSource
import Media

/// The pictures of a WebM or IVF file, decoded.
///
/// A frame that cannot be decoded is left out and counted, and the picture before it stands still, as with any player.
final class StoredPictures: PictureInput {
  private let reader: TrackReader
  private let codec: StoredCodec
  private var decoder: PictureDecoding
  private var next: FileFrame?
  private var last: Picture?
  private(set) var undecodable = Undecodable()
  private let size: PictureSize

  init(_ stored: StoredFile, _ track: StoredTrack, size: PictureSize) throws(InputRefusal) {
    reader = try refusing { () throws(MediaFile.Refusal) in try stored.reader(of: track) }
    codec = track.codec
    self.size = size
    decoder = try PictureDecoding(track.codec)
  }

  func peek() throws(InputRefusal) -> Int64? {
    if let next { return next.time }
    let reader = reader
    next = try refusing { () throws(MediaFile.Refusal) in try reader.next() }
    return next?.time
  }

  func advance() throws(InputRefusal) {
    guard try peek() != nil, let frame = next else { return }
    next = nil
    do throws(CodecFailure) {
      if let picture = try decoder.decode(frame.payload) { last = picture }
    } catch {
      // Until the next keyframe what is decoded may be wrong, but a camera does not stop for that.
      undecodable.add(at: frame.time, reason: InputRefusal(error).description)
    }
  }

  func picture() throws(InputRefusal) -> Picture { last ?? Picture(size: size) }

  func rewind() throws(InputRefusal) {
    let reader = reader
    try refusing { () throws(MediaFile.Refusal) in try reader.rewind() }
    decoder = try PictureDecoding(codec)
    next = nil
  }

  /// Checks a file's picture track.
  static func check(_ stored: StoredFile, _ track: StoredTrack) throws(InputRefusal) -> CheckedPictures {
    guard let size = track.size else { throw InputRefusal("its pictures tell no size") }
    try PictureFit.check(size)
    let pictures = try StoredPictures(stored, track, size: size)
    // The first picture is decoded: a profile or a size that cannot be is told before anybody waits for pictures.
    guard try pictures.peek() != nil, let first = pictures.next else { throw .changed }
    let decoder = pictures.decoder
    _ = try coding { () throws(CodecFailure) in try decoder.decode(first.payload) }
    let start = track.start - stored.origin
    let length = max(1, track.end - track.start)
    return CheckedPictures(
      summary: track.description, size: size, interval: max(1, length / Int64(max(1, track.frames))),
      extent: .range(start..<start + length), remarks: [],
      open: { _ throws(InputRefusal) in try StoredPictures(stored, track, size: size) })
  }
}
