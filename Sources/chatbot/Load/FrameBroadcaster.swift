import BotPeer
import Media
import NIOCore

/// Hands each frame of the one source to all publishers, phase by phase; the frame's bytes are shared by all.
struct FrameBroadcaster: Sendable {
  private let stagger: StaggerSchedule
  private let parts: [ObjectIdentifier: NIOLoopBound<Part>]
  private let loops: [any EventLoop]

  /// The publishers of one loop, and when they got their frames; touched on that loop only.
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

    /// Comes back when the phase's next frame is due.
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

  /// From now on a publisher gets frames, beginning with the frames since the last keyframe.
  func add(_ peer: Peer, index: Int, on loop: any EventLoop) {
    guard let part = parts[ObjectIdentifier(loop)] else { return }
    let phase = stagger.phase(of: index)
    loop.execute { part.value.join(peer, phase: phase) }
  }

  /// Gives a frame to each publisher when its time has come there.
  func give(_ frame: EncodedFrame) {
    for loop in loops {
      guard let part = parts[ObjectIdentifier(loop)] else { continue }
      loop.execute { part.value.add(frame) }
    }
  }

  /// How late frames were handed over so far.
  func lateness() async -> Lateness {
    var all = Lateness()
    for loop in loops {
      guard let part = parts[ObjectIdentifier(loop)] else { continue }
      if let one = try? await loop.submit({ part.value.lateness }).get() { all.add(one) }
    }
    return all
  }
}
