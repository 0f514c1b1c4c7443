import Bitstream
import CallCheck
import Foundation
import Inspection
import InspectionTestSupport
import Media
import NIOCore
import Recorder
import TestSupport
import Testing

/// Recordings with B-frames, whose files have frames in another order than that in which they are shown.
@Suite struct BidirectionalFramesTests {
  private struct Piece {
    var payload: ByteBuffer
    var place: Int
    var isReordered: Bool
  }

  /// Frames of libx264 in decoding order: a keyframe each second.
  private static func frames(_ seconds: Int) throws -> [Piece] {
    let stream = try H264Stream.make(
      seconds: Double(seconds),
      [
        "-c:v", "libx264", "-preset", "veryfast", "-x264-params",
        "b-adapt=0:scenecut=0:bframes=3:b-pyramid=normal:keyint=30:min-keyint=30",
      ])
    var sets = H264ParameterSets()
    var counter = H264PictureOrderCounter()
    var latest = -1
    return try stream.frames.enumerated().map { index, payload in
      var order: PictureOrder?
      for unit in H264NALUnits(payload) {
        if unit.type.isParameterSet { sets.insert(unit.bytes) }
        guard unit.type.isSlice, order == nil, let sequence = sets.sequence(for: 0) else { continue }
        order = counter.add(
          try H264SliceHeader(parsing: unit.bytes, parameters: sequence, picture: sets.picture(0)), sequence)
      }
      let place = index / 30 * 30 + Int(try #require(order).count) / 2
      defer { latest = max(latest, place) }
      return Piece(payload: payload, place: place, isReordered: place < latest)
    }
  }

  /// Records the frames that `keeps` is true for.
  private static func record(
    _ pieces: [Piece], in folder: RecordedFolder, keeps: (Int) -> Bool = { _ in true }
  ) async throws {
    var configuration = RoomRecorder.Configuration(folder: folder.path, room: "100")
    configuration.verifies = false
    configuration.usesSystemClock = false
    let recorder = try RoomRecorder(configuration)
    let id = ParticipantID("anna")
    recorder.begin(id, now: SyntheticPeer.beginning, wallClock: RecordedFolder.wallClock)
    var wasLost = false
    for (number, piece) in pieces.enumerated() {
      guard keeps(number) else {
        wasLost = true
        continue
      }
      let arrival = SyntheticPeer.instant(0.2 + Double(number) / 30)
      let header = FrameHeader(parsing: piece.payload, of: .h264)
      var frame = EncodedFrame(
        owner: id, codec: .h264, time: MediaTime(ticks: Int64(piece.place) * 3_000, rate: 90_000),
        payload: piece.payload, isKeyframe: header.isKeyframe, size: header.video?.size, arrival: arrival)
      frame.isReordered = piece.isReordered
      if wasLost { frame.gap = MediaGap(.lost, packetsLost: 3) }
      wasLost = false
      recorder.receive(.frame(frame), of: id, now: arrival)
      await recorder.advance(now: MonotonicInstant(arrival))
    }
    await recorder.finish(now: SyntheticPeer.instant(0.2 + Double(pieces.count) / 30))
  }

  @Test func eachFrameIsSeenWhenItIsShown() async throws {
    let folder = try RecordedFolder()
    try await Self.record(Self.frames(6), in: folder)
    let video = try #require(try folder.inspect().report.peers.first?.video)
    #expect(video.frames == 180 && video.keyframes == 6 && video.decodeErrors == 0)
    #expect(video.freezes.count == 0 && video.frozen.count == 0)
  }

  @Test func aLossIsAFreezeOfItsLength() async throws {
    let folder = try RecordedFolder()
    // From within a group to the next keyframe.
    try await Self.record(Self.frames(6), in: folder) { !(70..<90).contains($0) }
    let video = try #require(try folder.inspect().report.peers.first?.video)
    #expect(video.frames == 160 && video.decodeErrors == 0)
    #expect(video.freezes.count == 1)
    #expect(abs(video.freezes.longest - 0.67) < 0.12)
  }
}
