import Codecs
import FileSource
import Media
import NIOCore

/// The decoded frames of a WebM or IVF file.
///
/// A frame that cannot be decoded is skipped and counted, and the previous frame is repeated, as in a player.
final class StoredVideo: VideoInput {
  private let reader: TrackReader
  private let codec: Codec
  private let orientation: VideoOrientation
  private var decoder: VideoDecoder
  private var next: FileFrame?
  private var last: VideoFrame?
  private(set) var undecodable = Undecodable()
  private let size: VideoSize

  init(_ stored: StoredFile, _ track: StoredTrack, size: VideoSize) throws(InputError) {
    reader = try refusing { () throws(MediaFile.ReadError) in try stored.reader(of: track) }
    codec = track.codec
    orientation = track.orientation
    self.size = size
    decoder = try Self.decoder(codec)
  }

  func peek() throws(InputError) -> Int64? {
    if let next { return next.time }
    let reader = reader
    next = try refusing { () throws(MediaFile.ReadError) in try reader.next() }
    return next?.time
  }

  func advance() throws(InputError) {
    guard try peek() != nil, let frame = next else { return }
    next = nil
    do throws(CodecError) {
      if let videoFrame = try decoder.decode(frame.payload, \.copy) { last = try videoFrame.turned(orientation) }
    } catch {
      // Decoded frames may be wrong until the next keyframe, but a camera does not stop for that.
      undecodable.add(at: frame.time, reason: InputError(error).description)
    }
  }

  func videoFrame() throws(InputError) -> VideoFrame { last ?? VideoFrame(size: size) }

  func rewind() throws(InputError) {
    let reader = reader
    try refusing { () throws(MediaFile.ReadError) in try reader.rewind() }
    decoder = try Self.decoder(codec)
    next = nil
  }

  /// Checks a file's video track.
  static func check(_ stored: StoredFile, _ track: StoredTrack) throws(InputError) -> CheckedVideo {
    guard let size = track.size.map(track.orientation.size) else { throw InputError("its frames state no size") }
    try VideoScaling.check(size)
    let input = try StoredVideo(stored, track, size: size)
    // The first frame is decoded, so that an unsupported profile or size is reported before playback.
    guard try input.peek() != nil, let first = input.next else { throw .changed }
    // Frames of more than 8 bits are rounded by the program that reads files, which also puts them in order.
    if let obstacle = FrameHeader.obstacle(keyframe: first.payload, of: track.codec) { throw InputError(obstacle) }
    let decoder = input.decoder
    _ = try coding { () throws(CodecError) in try decoder.decode(first.payload) }
    let start = track.start - stored.origin
    let length = max(1, track.end - track.start)
    return CheckedVideo(
      summary: track.description, size: size, interval: max(1, length / Int64(max(1, track.frames))),
      extent: .range(start..<start + length), notes: [],
      open: { _ throws(InputError) in try StoredVideo(stored, track, size: size) })
  }

  private static func decoder(_ codec: Codec) throws(InputError) -> VideoDecoder {
    try coding { () throws(CodecError) in try VideoDecoder(codec) }
  }
}
