import Bitstream
import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

@Suite("B-frames between two sessions")
struct BidirectionalFramesTests {
  /// What the timestamps of the sender are.
  enum Timestamps: CaseIterable {
    case presentation, decoding
  }

  /// A stream of 40 s; each sequence has 30 frames.
  private struct Stream: Sendable {
    let frames: [ByteBuffer]
    /// The place of each frame in the order of output.
    var places: [Int] = []

    init(_ parameters: String) throws {
      frames = try H264Stream.make(
        seconds: 40,
        [
          "-c:v", "libx264", "-b:v", "600k", "-x264-params",
          "b-adapt=0:scenecut=0:ref=4:keyint=30:min-keyint=30:\(parameters)",
        ]
      ).frames
      var sets = H264ParameterSets()
      var counter = H264PictureOrderCounter()
      for (index, frame) in frames.enumerated() {
        for unit in H264NALUnits(frame) {
          if unit.type.isParameterSet { sets.insert(unit.bytes) }
          guard unit.type.isSlice, places.count == index, let sequence = sets.sequence(for: 0) else { continue }
          let header = try H264SliceHeader(parsing: unit.bytes, parameters: sequence, picture: sets.picture(0))
          let order = counter.add(header, sequence)
          places.append(index / 30 * 30 + Int(try #require(order).count) / 2)
        }
      }
    }
  }

  /// The structures of streams.
  enum Structure: CaseIterable {
    case flat, pyramid
  }

  private static let flat = Result { try Stream("bframes=2:b-pyramid=none") }
  private static let pyramid = Result { try Stream("bframes=3:b-pyramid=normal") }

  private static func stream(_ structure: Structure) throws -> Stream {
    switch structure {
    case .flat: try flat.get()
    case .pyramid: try pyramid.get()
    }
  }

  /// Sends a stream and returns the numbers and frames that arrived.
  private static func send(
    _ stream: Stream, _ timestamps: Timestamps, seed: UInt64, _ conditions: Impairment.Conditions
  ) throws -> (call: SessionCall, frames: [(number: Int, frame: EncodedFrame)]) {
    var media = Negotiated()
    media.video = .h264
    var configuration = MediaSession.Configuration()
    configuration.sending.keyframeResponse = .requestFromSource
    var call = SessionCall(
      seed: seed, toBob: conditions, toAlice: .init(delay: .milliseconds(20)), media: media,
      configuration: configuration)
    call.source = nil
    var latest = -1
    for (number, payload) in stream.frames.enumerated() {
      let place = timestamps == .presentation ? stream.places[number] : number
      let header = FrameHeader(parsing: payload, of: .h264)
      var frame = EncodedFrame(
        owner: ParticipantID("source"), codec: .h264, time: MediaTime(ticks: Int64(place) * 3_000, rate: 90_000),
        payload: payload, isKeyframe: header.isKeyframe, size: header.video?.size, arrival: call.now.instant)
      frame.isReordered = place < latest
      latest = max(latest, place)
      call.give(frame)
      call.run(for: .nanoseconds(33_333_333))
    }
    call.settle()
    let numbers = Dictionary(uniqueKeysWithValues: stream.frames.enumerated().map { ($1, $0) })
    return (call, try call.bob.frames(.h264).map { (try #require(numbers[$0.payload]), $0) })
  }

  @Test(
    "all frames arrive in decoding order with the times at which they are shown", arguments: Timestamps.allCases,
    Structure.allCases)
  func times(timestamps: Timestamps, structure: Structure) throws {
    let stream = try Self.stream(structure)
    let (_, frames) = try Self.send(stream, timestamps, seed: 1, .init(delay: .milliseconds(20)))
    #expect(frames.map(\.number) == Array(0..<stream.frames.count))
    let first = try #require(frames.first).frame.time.ticks
    #expect(frames.map { ($0.frame.time.ticks - first) / 3_000 } == stream.places.map(Int64.init))
    #expect(frames.contains { $0.frame.isReordered })
    #expect(frames.allSatisfy { $0.frame.gap == nil })
  }

  @Test(
    "lost, late and swapped packets cost no order: frames are shown in the order in which they were made",
    arguments: Timestamps.allCases, 1...4)
  func loss(timestamps: Timestamps, seed: Int) throws {
    let stream = try Self.stream(seed.isMultiple(of: 2) ? .flat : .pyramid)
    let conditions = Impairment.Conditions(loss: 0.05, delay: .milliseconds(25), reorder: 0.05)
    let (call, frames) = try Self.send(stream, timestamps, seed: UInt64(seed), conditions)
    let numbers = frames.map(\.number)
    #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    #expect(numbers.count > stream.frames.count * 8 / 10)
    #expect(try #require(call.bob.session.receiveStatistics[.video]).packetsRecovered > 20)
    let shown = frames.sorted { $0.frame.time.ticks < $1.frame.time.ticks }
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0.frame.time.ticks < $1.frame.time.ticks })
    let places = shown.map { stream.places[$0.number] }
    #expect(places == places.sorted())
    let first = try #require(shown.first).frame.time.ticks - Int64(places[0]) * 3_000
    for (frame, place) in zip(shown, places) {
      let error = frame.frame.time.ticks - first - Int64(place) * 3_000
      #expect(error == 0)
    }
  }

  @Test(
    "a peer that sends everything back returns each frame in decoding order with the time at which it is shown",
    arguments: Timestamps.allCases, Structure.allCases)
  func loopback(timestamps: Timestamps, structure: Structure) throws {
    let stream = try Self.stream(structure)
    var media = Negotiated()
    media.video = .h264
    var configuration = MediaSession.Configuration()
    configuration.sending.keyframeResponse = .requestFromSource
    let line = Impairment.Conditions(delay: .milliseconds(20))
    var there = SessionCall(seed: 5, toBob: line, media: media, configuration: configuration)
    var back = SessionCall(seed: 6, toBob: line, media: media, configuration: configuration)
    (there.source, back.source, back.times) = (nil, nil, .ofTrack)
    let count = 150
    for (number, payload) in stream.frames.prefix(count).enumerated() {
      let place = timestamps == .presentation ? stream.places[number] : number
      let header = FrameHeader(parsing: payload, of: .h264)
      var frame = EncodedFrame(
        owner: ParticipantID("source"), codec: .h264, time: MediaTime(ticks: Int64(place) * 3_000, rate: 90_000),
        payload: payload, isKeyframe: header.isKeyframe, size: header.video?.size, arrival: there.now.instant)
      frame.isReordered = stream.places.prefix(number).contains { timestamps == .presentation && $0 > place }
      there.give(frame)
      for step in 0..<11 {
        let known = there.bob.frames(.h264).count
        there.run(for: .nanoseconds(step < 10 ? 3_000_000 : 3_333_333))
        back.run(for: .nanoseconds(step < 10 ? 3_000_000 : 3_333_333))
        for frame in there.bob.frames(.h264).dropFirst(known) { back.give(frame) }
      }
    }
    back.settle()
    let frames = back.bob.frames(.h264)
    // Those of the last group wait for the frames that follow.
    #expect(frames.count >= count - 17)
    let isSame = frames.map(\.payload).elementsEqual(stream.frames.prefix(frames.count))
    #expect(isSame)
    let first = try #require(frames.first).time.ticks
    #expect(frames.map { ($0.time.ticks - first) / 3_000 } == stream.places.prefix(frames.count).map(Int64.init))
    #expect(frames.contains(where: \.isReordered) && frames.allSatisfy { $0.gap == nil })
  }

  @Test("a call that ends within a group loses none of its frames")
  func end() throws {
    let stream = try Self.stream(.pyramid)
    var media = Negotiated()
    media.video = .h264
    var call = SessionCall(media: media)
    call.source = nil
    // I, P and a B frame that others are still to precede.
    for number in 0..<3 {
      let header = FrameHeader(parsing: stream.frames[number], of: .h264)
      call.give(
        EncodedFrame(
          owner: ParticipantID("source"), codec: .h264, time: MediaTime(ticks: Int64(number) * 3_000, rate: 90_000),
          payload: stream.frames[number], isKeyframe: header.isKeyframe, size: header.video?.size,
          arrival: call.now.instant))
      call.run(for: .milliseconds(33))
    }
    call.run(for: .milliseconds(200))
    #expect(call.bob.frames(.h264).count == 1)
    for output in call.bob.session.close(now: call.now) { call.takeFromBob(output) }
    let frames = call.bob.frames(.h264)
    let first = try #require(frames.first).time.ticks
    #expect(frames.map { ($0.time.ticks - first) / 3_000 } == [0, 2, 1])
  }
}
