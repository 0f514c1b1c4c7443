internal import BotPeer
internal import Media
internal import NIOCore

/// Sends each frame of the shared source to all publishers, phase by phase. All publishers share the frame's bytes.
struct FrameBroadcaster: Sendable {
  private let stagger: StaggerSchedule
  private let parts: [ObjectIdentifier: NIOLoopBound<Part>]
  private let loops: [any EventLoop]

  /// The publishers of one event loop, and the lateness of their frames; used on that loop only.
  private final class Part {
    private let loop: any EventLoop
    private var replay: StaggeredReplay
    private var peers: [[Peer]]
    private var isWaiting: [Bool]
    private(set) var lateness = Lateness()

    init(_ stagger: StaggerSchedule, on loop: any EventLoop) {
      self.loop = loop
      replay = StaggeredReplay(stagger)
      peers = Array(repeating: [], count: stagger.phases)
      isWaiting = Array(repeating: false, count: stagger.phases)
    }

    func add(_ frame: EncodedFrame) {
      replay.add(frame, now: .now)
      for phase in peers.indices where !peers[phase].isEmpty { wait(phase) }
    }

    func join(_ peer: Peer, phase: Int) {
      for frame in replay.join(phase, now: .now) { peer.send(frame) }
      peers[phase].append(peer)
      wait(phase)
    }

    /// Schedules the next frame of a phase.
    private func wait(_ phase: Int) {
      guard !isWaiting[phase], let deadline = replay.deadline(of: phase) else { return }
      isWaiting[phase] = true
      loop.assumeIsolated().scheduleTask(in: TimeAmount(max(.zero, deadline - .now))) { [weak self] in
        self?.isWaiting[phase] = false
        self?.give(phase)
      }
    }

    private func give(_ phase: Int) {
      let now = ContinuousClock.now
      for frame in replay.dequeue(phase, now: now) {
        lateness.add(now - frame.arrival)
        for peer in peers[phase] { peer.send(frame) }
      }
      wait(phase)
    }
  }

  init(loops: [any EventLoop], stagger: StaggerSchedule) async throws {
    self.loops = loops
    self.stagger = stagger
    var parts: [ObjectIdentifier: NIOLoopBound<Part>] = [:]
    for loop in loops {
      parts[ObjectIdentifier(loop)] = try await loop.submit {
        NIOLoopBound(Part(stagger, on: loop), eventLoop: loop)
      }.get()
    }
    self.parts = parts
  }

  /// Adds a publisher, which first receives the frames since the last keyframe.
  func add(_ peer: Peer, index: Int, on loop: any EventLoop) {
    guard let part = parts[ObjectIdentifier(loop)] else { return }
    let phase = stagger.phase(of: index)
    loop.execute { part.value.join(peer, phase: phase) }
  }

  /// Queues a frame; each publisher sends it when it is due in the publisher's phase.
  func give(_ frame: EncodedFrame) {
    for loop in loops {
      guard let part = parts[ObjectIdentifier(loop)] else { continue }
      loop.execute { part.value.add(frame) }
    }
  }

  /// How late frames were sent so far.
  func lateness() async -> Lateness {
    var all = Lateness()
    for loop in loops {
      guard let part = parts[ObjectIdentifier(loop)] else { continue }
      if let one = try? await loop.submit({ part.value.lateness }).get() { all.add(one) }
    }
    return all
  }
}

/// A histogram of how late frames were handed to publishers, in milliseconds. It shows whether this machine keeps up.
package struct Lateness: Sendable, Hashable {
  /// One bucket for each millisecond; the last one counts all later frames.
  private var counts = [Int](repeating: 0, count: 1001)
  package private(set) var count = 0

  package init() {}

  package mutating func add(_ lateness: Duration) {
    let position = min(max(0, Int(lateness / .milliseconds(1))), counts.count - 1)
    counts[position] += 1
    count += 1
  }

  package mutating func add(_ other: Lateness) {
    for (position, number) in other.counts.enumerated() { counts[position] += number }
    count += other.count
  }

  /// The lateness in milliseconds that the given share of all frames does not exceed; nil before the first frame.
  package func quantile(_ share: Double) -> Double? {
    guard count > 0 else { return nil }
    var rest = Int((share * Double(count)).rounded(.up))
    for (position, number) in counts.enumerated() {
      rest -= number
      if rest <= 0 { return Double(position + 1) }
    }
    return Double(counts.count)
  }
}
