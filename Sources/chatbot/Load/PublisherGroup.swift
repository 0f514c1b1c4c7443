import Media
import Synchronization

/// The publishers of a load, and what they went through.
final class PublisherGroup: Sendable {
  /// What all of them send.
  let source: any FrameSource

  private struct State {
    var publishers: [LoadPublisher] = []
    var records: [PublisherRecord]
    /// What the lines from each publisher take; only for a source that follows them.
    var lines: [Int: ViewerBandwidth] = [:]
    var connected = 0
  }

  private let size: Int
  private let state: Mutex<State>
  private let everybody: AsyncStream<Void>
  private let isEverybody: AsyncStream<Void>.Continuation

  init(source: any FrameSource, size: Int) {
    self.source = source
    self.size = size
    state = Mutex(State(records: Array(repeating: PublisherRecord(), count: size)))
    (everybody, isEverybody) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  func add(_ publisher: LoadPublisher) {
    state.withLock { $0.publishers.append(publisher) }
  }

  /// Notes what happened to a publisher.
  func note<Answer: Sendable>(_ index: Int, _ change: (inout PublisherRecord) -> Answer) -> Answer {
    state.withLock { change(&$0.records[index]) }
  }

  func connected(_ index: Int, _ participant: ParticipantID) {
    let areAll = state.withLock { state in
      let isFirst = !state.records[index].hasConnected
      state.records[index].connected(participant, now: .now)
      if isFirst, state.records[index].hasConnected { state.connected += 1 }
      return state.connected == size
    }
    if areAll {
      isEverybody.yield()
      isEverybody.finish()
    }
  }

  /// Waits until each publisher has been connected to somebody; for one caller.
  func allConnected() async {
    for await _ in everybody { return }
  }

  /// One encoder serves all.
  func follow(_ line: ViewerBandwidth.Line?, of participant: ParticipantID, _ index: Int) {
    guard source.isLive else { return }
    let line = state.withLock { state in
      if let line {
        state.lines[index, default: ViewerBandwidth()].set(line, of: participant)
      } else {
        state.lines[index]?.remove(participant)
      }
      return ViewerBandwidth.common(of: state.lines.values.flatMap(\.all))
    }
    if let line {
      source.adapt(toBitrate: line.bitrate, fractionLost: line.fractionLost)
    } else {
      source.reset()
    }
  }

  /// What everybody went through, with the newest counts.
  func records() async -> [PublisherRecord] {
    await eachPublisher { await $0.count() }
    return state.withLock { $0.records }
  }

  func leave() async {
    await eachPublisher { await $0.leave() }
  }

  private func eachPublisher(_ work: @escaping @Sendable (LoadPublisher) async -> Void) async {
    let publishers = state.withLock { $0.publishers }
    await withTaskGroup(of: Void.self) { group in
      for publisher in publishers { group.addTask { await work(publisher) } }
    }
  }
}
