import FileSource
import Inspection
import Media
import NIOCore

/// Reads the frames of a track in decoding order, and says when each is to be decoded.
///
/// A decoder of a codec that reorders frames returns as many frames later as it keeps. So that it returns each when that is shown, a
/// frame is decoded so many places before: the frame at an index when the one is shown that is so many places before in the order of
/// output.
struct DecodingSchedule {
  /// Frames are shown at most so many places after their place in decoding order, so that so many must be read to know an order.
  private static let lookahead = 17

  private let reader: RecordedTrackReader
  private let reorders: Bool
  /// Frames that have been read.
  private var ahead = CircularBuffer<RecordedFrame>()
  private var failure: MediaFile.ReadError?
  private var isAtEnd = false
  /// The times of frames that are not assigned yet, sorted.
  private var times: [Int64] = []
  /// The last time that was assigned.
  private var last: Int64?
  /// How many frames were returned, and how many times were assigned.
  private var returned = 0
  private var assigned = 0
  /// The number of frames that the decoder keeps.
  private var delay = 0
  /// The times of the last frames in decoding order, to find the delay where no parameter set tells it.
  private var recent = CircularBuffer<Int64>()
  private var isDelayKnown = false

  init(_ track: RecordedTrack) {
    reader = RecordedTrackReader(track)
    reorders = track.pieces.contains { $0.track.isReordered }
  }

  /// Whether the decoder keeps frames.
  var keepsFrames: Bool { reorders }

  /// Reads the next frame, or returns nil at the end. After an error the next call continues with the next file.
  ///
  /// - Returns: the frame, and when it is to be decoded: on the recording's timeline, as the frame's time.
  mutating func next() throws(MediaFile.ReadError) -> (due: Int64, frame: RecordedFrame)? {
    guard reorders else {
      guard let frame = try reader.next() else { return nil }
      return (frame.time, frame)
    }
    fill()
    guard let frame = ahead.popFirst() else {
      if let failure = failure.take() { throw failure }
      return nil
    }
    returned += 1
    while assigned < returned - delay, !times.isEmpty {
      last = times.removeFirst()
      assigned += 1
    }
    return (last ?? times.first ?? frame.time, frame)
  }

  private mutating func fill() {
    while ahead.count < Self.lookahead, failure == nil, !isAtEnd {
      do throws(MediaFile.ReadError) {
        guard let frame = try reader.next() else {
          isAtEnd = true
          return
        }
        note(frame)
        ahead.append(frame)
      } catch {
        failure = error
      }
    }
  }

  private mutating func note(_ frame: RecordedFrame) {
    let index = times.lastIndex { $0 <= frame.time }.map { $0 + 1 } ?? 0
    times.insert(frame.time, at: index)
    if frame.content.isKeyframe {
      let stated = FrameHeader.reorderedFrames(keyframe: frame.content.payload, of: frame.codec)
      isDelayKnown = stated != nil
      // A decoder keeps the delay that it has had.
      if let stated { delay = max(delay, min(stated, Self.lookahead - 1)) }
    }
    if !isDelayKnown { delay = max(delay, min(recent.count { $0 > frame.time }, Self.lookahead - 1)) }
    if recent.count == Self.lookahead { recent.removeFirst() }
    recent.append(frame.time)
  }
}
