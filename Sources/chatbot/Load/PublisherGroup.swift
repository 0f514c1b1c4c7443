import Media
import Room
import Synchronization

/// The publishers of a load, and their records.
final class PublisherGroup: Sendable {
  /// The source that all publishers send.
  let source: any FrameSource

  private struct State {
    var publishers: [LoadPublisher] = []
    var records: [PublisherRecord]
    /// The bandwidth of each publisher's viewers; only for a source that adapts.
    var bandwidths: [Int: ViewerBandwidth] = [:]
    var connected = 0
  }

  private let size: Int
  private let state: Mutex<State>
  private let allConnectedSignal: AsyncStream<Void>
  private let allConnectedContinuation: AsyncStream<Void>.Continuation

  init(source: any FrameSource, size: Int) {
    self.source = source
    self.size = size
    state = Mutex(State(records: Array(repeating: PublisherRecord(), count: size)))
    (allConnectedSignal, allConnectedContinuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  func add(_ publisher: LoadPublisher) {
    state.withLock { $0.publishers.append(publisher) }
  }

  /// Changes the record of a publisher.
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
      allConnectedContinuation.yield()
      allConnectedContinuation.finish()
    }
  }

  /// Waits until each publisher has been connected to someone; for one caller only.
  func allConnected() async {
    for await _ in allConnectedSignal { return }
  }

  /// Adapts the encoder to the viewers' bandwidth. One encoder serves all publishers.
  func adapt(to estimate: ViewerBandwidth.PathEstimate?, of participant: ParticipantID, _ index: Int) {
    guard source.isLive else { return }
    let estimate = state.withLock { state in
      if let estimate {
        state.bandwidths[index, default: ViewerBandwidth()].set(estimate, of: participant)
      } else {
        state.bandwidths[index]?.remove(participant)
      }
      return ViewerBandwidth.common(of: state.bandwidths.values.flatMap(\.all))
    }
    if let estimate {
      source.adapt(toBitrate: estimate.bitrate, fractionLost: estimate.fractionLost)
    } else {
      source.reset()
    }
  }

  /// The records of all publishers, with the newest counters.
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
