import FileSource
import Media
import NIOCore
import Recorder

/// One track of a recording, read frame by frame through all files that hold a part of it.
final class RecordedTrack {
  /// The part of it that one file holds.
  struct Piece {
    var file: StoredFile
    var track: StoredTrack
    /// Where the container's time zero lies on the recording's time line, in units of `FileTime.rate`.
    var zero: Int64
  }

  /// Parts of audio that are so close to each other were cut from one stream: 10 ms. Files round times.
  private static let seam = Int64(FileTime.rate) / 100
  /// A part that begins so much before the end of the one before it does not lie where it says: 60 ms.
  private static let overlap = Int64(FileTime.rate) * 60 / 1_000

  /// The last frame of a file ends after so long at most: 100 ms.
  private static let maximumVideoFrame = Int64(FileTime.rate) / 10

  let kind: MediaKind
  private let pieces: [Piece]
  private var gaps: GapIndex
  /// Whether the manifest says which audio the recorder made up in place of lost packets.
  private let leavesOutRepairs: Bool
  private var nextPiece = 0
  private var reader: TrackReader?
  /// What is added to a frame's time in its file.
  private var shift: Int64 = 0
  /// Where the container's time zero lies, of the file that is being read.
  private var zero: Int64 = 0
  /// Where the last frame begins.
  private var last: Int64?
  /// Where the last frame ends, once its file has been read; before that where it begins. nil before the first.
  private(set) var end: Int64?

  /// - Parameters:
  ///   - pieces: in order.
  ///   - gaps: of the track's entry in the manifest; empty without one.
  init(_ kind: MediaKind, pieces: [Piece], gaps: [RecordingManifest.Gap] = []) {
    self.kind = kind
    self.pieces = pieces
    self.gaps = GapIndex(gaps)
    leavesOutRepairs = kind == .audio && !gaps.isEmpty
  }

  /// Whether no file holds any of it.
  var isEmpty: Bool { pieces.isEmpty }

  /// Where the last frame is going to end, by what was found when the files were opened; as good as a progress needs.
  var estimatedEnd: Int64 { pieces.map { $0.zero + $0.track.end }.max() ?? 0 }

  /// The next frame; nil at the end.
  func next() throws(MediaFile.ReadError) -> RecordedFrame? {
    while true {
      guard let frame = try nextOfPiece() else {
        if nextPiece == pieces.count, reader == nil { return nil }
        continue
      }
      if isFiller(frame) { continue }
      return RecordedFrame(time: frame.time, content: frame.content, gap: gaps.before(frame.time))
    }
  }

  /// The next frame of the file that is being read, or of the next one; nil when that one has ended.
  private func nextOfPiece() throws(MediaFile.ReadError) -> (time: Int64, content: FileFrame)? {
    if let reader {
      guard let frame = try reader.next() else {
        self.reader = nil
        endPiece()
        return nil
      }
      return position(frame)
    }
    guard nextPiece < pieces.count else { return nil }
    let piece = pieces[nextPiece]
    nextPiece += 1
    let reader = try piece.file.reader(of: piece.track)
    guard let first = try reader.next() else { return nil }
    self.reader = reader
    zero = piece.zero
    shift = zero + piece.file.origin
    if let end, let last {
      // Files of one recording tell their places by milliseconds; one that says nothing of its place continues.
      let start = shift + first.time
      let isCut = kind == .audio && abs(start - end) <= Self.seam
      if isCut || (kind == .audio ? start < end - Self.overlap : start <= last) {
        shift += end - start
        zero += end - start
      }
    }
    return position(first)
  }

  private func endPiece() {
    let said = pieces[nextPiece - 1].track.end + zero
    // For how long a last frame is shown is a guess by the one before it, which can have stood for long.
    end = kind == .audio ? max(end ?? .min, said) : last.map { min(said, $0 + Self.maximumVideoFrame) }
  }

  private func position(_ frame: FileFrame) -> (time: Int64, content: FileFrame) {
    let time = frame.time + shift
    last = time
    end = max(end ?? .min, time)
    return (time, frame)
  }

  /// Whether an audio packet is none of the sender's: the recorder filled a gap with it.
  ///
  /// What is skipped is a hole again, as it was when the packets came, so that it is measured like one in a call.
  private func isFiller(_ frame: (time: Int64, content: FileFrame)) -> Bool {
    guard kind == .audio else { return false }
    let payload = frame.content.payload
    let bytes = payload.readableBytesView
    let isEmpty = payload.readableBytes <= 2
    // Frames of no size, as many as a count byte says (RFC 7845, 4.1; RFC 6716, 3.2.5): no encoder sends that.
    if isEmpty, let first = bytes.first, first & 3 == 3, bytes.count == 2 { return true }
    guard leavesOutRepairs, let reason = gaps.around(frame.time) else { return false }
    return isEmpty || reason == .lost
  }
}

/// A frame of a recording, on the recording's own time line.
struct RecordedFrame {
  /// When it begins to be shown or heard, in units of `FileTime.rate` since the recording's start.
  var time: Int64
  var content: FileFrame
  /// What was missing before it, by the manifest.
  var gap: MediaGap?

  /// As a peer would have sent it.
  ///
  /// - Parameter arrival: when it is taken to have come.
  func encoded(owner: ParticipantID, arrival: ContinuousClock.Instant) -> EncodedFrame {
    let codec: Codec = content.kind == .video ? .vp8 : .opus
    let unit = FileTime.units(perTickOf: content.kind)
    // Rounded down, before the start as well as after it.
    let ticks = time >= 0 ? time / unit : -((unit - 1 - time) / unit)
    return EncodedFrame(
      owner: owner, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate), payload: content.payload,
      isKeyframe: content.isKeyframe, size: content.size, arrival: arrival, gap: gap)
  }
}
