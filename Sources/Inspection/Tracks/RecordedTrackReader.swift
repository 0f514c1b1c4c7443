package import FileSource
package import Media
import NIOCore

/// Reads one track of a recording frame by frame, through all files that contain a part of it.
package final class RecordedTrackReader {
  /// The maximum distance between audio parts that were cut from one stream: 10 ms. Files round times.
  private static let joinTolerance = Int64(MediaTimebase.rate) / 100
  /// The maximum overlap of two parts whose times are trusted: 60 ms.
  private static let overlap = Int64(MediaTimebase.rate) * 60 / 1_000

  /// The maximum duration of a file's last frame: 100 ms.
  private static let maximumLastFrameDuration = Int64(MediaTimebase.rate) / 10

  private let kind: MediaKind
  private let pieces: [RecordedTrack.Piece]
  private var gaps: GapIndex
  /// Whether audio that the recorder inserted for lost packets is skipped; only possible if the manifest lists the gaps.
  private let skipsInsertedAudio: Bool
  /// Whether audio that replaces lost packets is returned, and comfort noise within a silence (`dtx`) is not.
  private let isForListening: Bool
  private var nextPiece = 0
  /// The file that is being read, and its codec.
  private var source: (reader: TrackReader, codec: Codec)?
  /// The offset that is added to a frame's time in its file.
  private var shift: Int64 = 0
  /// The container's time zero of the file that is being read.
  private var zero: Int64 = 0
  /// The start of the last frame, apart from those that are shown before it.
  private var last: Int64?
  /// The end of the last frame once its file has been read, before that its start; nil before the first frame.
  private(set) var end: Int64?
  /// The ticks of 48 kHz that a decoder must discard at the start of the file that is being read.
  package private(set) var preSkip: Int64 = 0

  /// - Parameter isForListening: whether what the recorder made for lost packets is returned. Without that it is a gap, as it was
  ///   in the call. Comfort noise within a silence that the sender did not send is not returned then, since the silence around
  ///   it would be heard.
  package init(_ track: RecordedTrack, isForListening: Bool = false) {
    self.isForListening = isForListening
    kind = track.kind
    pieces = track.pieces
    gaps = GapIndex(track.gaps)
    skipsInsertedAudio = kind == .audio && !track.gaps.isEmpty
  }

  /// Reads the next frame, or returns nil at the end. After an error the next call continues with the next file.
  package func next() throws(MediaFile.ReadError) -> RecordedFrame? {
    while true {
      guard let frame = try nextOfPiece(), let codec = source?.codec else {
        if nextPiece == pieces.count, source == nil { return nil }
        continue
      }
      if isFiller(frame) { continue }
      return RecordedFrame(
        time: frame.time, codec: codec, content: frame.content, gap: gaps.before(frame.time))
    }
  }

  /// Reads the next frame of the present or the next file, or returns nil if that file has ended.
  private func nextOfPiece() throws(MediaFile.ReadError) -> (time: Int64, content: FileFrame)? {
    if let source {
      let frame: FileFrame?
      do throws(MediaFile.ReadError) {
        frame = try source.reader.next()
      } catch {
        self.source = nil
        throw error
      }
      guard let frame else {
        self.source = nil
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
    source = (reader, piece.track.codec)
    preSkip = piece.track.preSkip
    zero = piece.zero
    shift = zero + piece.file.origin
    if let end, let last {
      // Files of one recording state their start in milliseconds; a file without a start continues the previous one.
      let start = shift + first.time
      let isContinuous = kind == .audio && abs(start - end) <= Self.joinTolerance
      if isContinuous || (kind == .audio ? start < end - Self.overlap : start <= last) {
        shift += end - start
        zero += end - start
      }
    }
    return position(first)
  }

  private func endPiece() {
    let said = pieces[nextPiece - 1].track.end + zero
    // A file's last frame has an estimated duration, that of the frame before it, which can be long.
    end = kind == .audio ? max(end ?? .min, said) : last.map { min(said, $0 + Self.maximumLastFrameDuration) }
  }

  private func position(_ frame: FileFrame) -> (time: Int64, content: FileFrame) {
    let time = frame.time + shift
    last = frame.isReordered ? max(last ?? time, time) : time
    end = max(end ?? .min, time)
    return (time, frame)
  }

  /// Whether the recorder inserted this audio packet to fill a gap.
  ///
  /// A skipped packet is a gap again, as it was in the call, so that it is measured the same way.
  private func isFiller(_ frame: (time: Int64, content: FileFrame)) -> Bool {
    guard kind == .audio else { return false }
    let payload = frame.content.payload
    let bytes = payload.readableBytesView
    let isEmpty = payload.readableBytes <= 2
    // A code 3 packet that consists of zero-length frames only (RFC 7845, 4.1; RFC 6716, 3.2.5): no encoder sends that.
    if isEmpty, let first = bytes.first, first & 3 == 3, bytes.count == 2 { return true }
    guard skipsInsertedAudio, let reason = gaps.around(frame.time) else { return false }
    return isEmpty || reason == (isForListening ? .dtx : .lost)
  }
}

/// A frame on the recording's timeline.
package struct RecordedFrame {
  /// The presentation time in units of `MediaTimebase.rate` since the recording's start.
  package var time: Int64
  package var codec: Codec
  package var content: FileFrame
  /// The gap before the frame, from the manifest.
  package var gap: MediaGap?

  /// Returns the frame as a peer would have sent it.
  ///
  /// - Parameter arrival: The arrival time to assign.
  func encoded(as stream: MediaStream, arrival: ContinuousClock.Instant) -> EncodedFrame {
    let unit = MediaTimebase.units(perTickOf: codec)
    // Rounded down, also for times before the start.
    let ticks = time >= 0 ? time / unit : -((unit - 1 - time) / unit)
    var frame = EncodedFrame(
      owner: stream.owner, stream: stream.number, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate),
      payload: content.payload, header: content.header, isKeyframe: content.isKeyframe, size: content.size,
      arrived: MonotonicInstant(arrival), gap: gap)
    frame.orientation = content.orientation
    frame.isReordered = content.isReordered
    return frame
  }
}
