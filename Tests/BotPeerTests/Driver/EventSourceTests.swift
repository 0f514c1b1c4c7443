import Media
import NIOCore
import NIOPosix
import Testing

@testable import BotPeer

@Suite("Events for a reader that does not keep up")
struct EventSourceTests {
  private static let owner = ParticipantID("anna")

  private static func frame(
    _ codec: Codec, isKeyframe: Bool = true, gap: MediaGap? = nil, of owner: ParticipantID = owner
  ) -> ParticipantEvent {
    ParticipantEvent(
      participant: owner,
      event: .media(
        .frame(
          EncodedFrame(
            owner: owner, codec: codec, time: MediaTime(ticks: 0, rate: codec.clockRate),
            payload: ByteBuffer(bytes: [1]), isKeyframe: isKeyframe, arrival: .now, gap: gap))),
      time: .now)
  }

  /// The events that a source yields to a slow reader.
  private struct Script: Sendable {
    /// Events yielded while the reader is behind.
    var late: [ParticipantEvent]
    /// Events yielded after the reader has caught up.
    var after: [ParticipantEvent]
  }

  /// Returns the frames that reach a reader that was behind and caught up.
  private func play(_ script: Script) async throws -> [EncodedFrame] {
    let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = threads.next()
    let (bound, events) = try await loop.submit {
      let (source, events) = EventSource.make(on: loop)
      for _ in 0..<EventSource.highWatermark {
        source.yield(.init(participant: Self.owner, event: .keyframeRequested, time: .now))
      }
      for event in script.late { source.yield(event) }
      return (NIOLoopBound(source, eventLoop: loop), events)
    }.get()
    var frames: [EncodedFrame] = []
    var reader = events.makeAsyncIterator()
    while let event = await reader.next() {
      // The last event about skipped events; the source yields it once the reader has caught up.
      if case .problem = event.event {
        try await loop.submit {
          for event in script.after { bound.value.yield(event) }
          bound.value.finish()
        }.get()
      }
      if case .media(.frame(let frame)) = event.event { frames.append(frame) }
    }
    try await threads.shutdownGracefully()
    return frames
  }

  @Test(
    "after skipped events, the first frame of each track reports how many were skipped and what was lost among them")
  func gaps() async throws {
    let lost = MediaGap(.lost, packetsLost: 3, framesDropped: 1)
    let frames = try await play(
      Script(
        late: [
          Self.frame(.opus), Self.frame(.vp8), Self.frame(.opus, gap: lost), Self.frame(.vp8, isKeyframe: false),
        ],
        after: [
          Self.frame(.opus), Self.frame(.opus), Self.frame(.vp8, isKeyframe: false, gap: lost),
          Self.frame(.vp8, gap: MediaGap(.recoveredLate, delay: .seconds(1))), Self.frame(.vp8, isKeyframe: false),
        ]))
    #expect(frames.map(\.codec) == [.opus, .opus, .vp8, .vp8])
    #expect(
      frames.map(\.gap) == [
        MediaGap(.overloaded, packetsLost: 3, framesDropped: 3), nil,
        MediaGap(.overloaded, packetsLost: 3, framesDropped: 4, delay: .seconds(1)), nil,
      ])
  }

  @Test(
    "media waits until more events can be yielded with it, and any other event is yielded at once with those that wait")
  func deliveryInterval() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (waits, events) = try await loop.submit { () -> ([Duration?], ParticipantEvents) in
      let (source, events) = EventSource.make(on: loop, deliveryInterval: .milliseconds(40))
      let start = MonotonicInstant.now
      func turn(_ event: ParticipantEvent?, after delay: Duration) -> Duration? {
        if let event { source.add(event) }
        return source.yield(now: start + delay).map { $0 - start }
      }
      let waits = [
        turn(Self.frame(.opus), after: .zero), turn(Self.frame(.vp8), after: .milliseconds(10)),
        turn(nil, after: .milliseconds(40)), turn(Self.frame(.opus), after: .milliseconds(50)),
        turn(.init(participant: Self.owner, event: .keyframeRequested, time: .now), after: .milliseconds(55)),
        turn(nil, after: .milliseconds(60)),
      ]
      source.finish()
      return (waits, events)
    }.get()
    #expect(waits == [.milliseconds(40), .milliseconds(40), nil, .milliseconds(90), nil, nil])
    var count = 0
    for await _ in events { count += 1 }
    #expect(count == 4)
  }

  @Test("frames skipped of one participant are not reported as a gap of another, nor of one who rejoined")
  func participants() async throws {
    let other = ParticipantID("bert")
    let ended = PeerEvent.ended(CloseReason(.closedByParticipant, "Gone."))
    let frames = try await play(
      Script(
        late: [Self.frame(.opus), Self.frame(.opus, of: other)],
        after: [
          ParticipantEvent(participant: Self.owner, event: ended, time: .now), Self.frame(.opus),
          Self.frame(.opus, of: other),
        ]))
    #expect(frames.map(\.owner) == [Self.owner, other])
    #expect(frames.map(\.gap) == [nil, MediaGap(.overloaded, framesDropped: 1)])
  }
}

extension EventSource {
  /// Adds an event and yields at once.
  fileprivate func yield(_ event: ParticipantEvent) {
    add(event)
    _ = yield(now: .now)
  }
}
