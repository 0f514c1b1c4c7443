package import BotPeer
package import CallCheck
package import Media
package import NIOCore
internal import Synchronization

/// Sends numbered messages to each connected peer on a data channel of its own, and counts what comes back.
package final class DataProbe: Sendable {
  /// Marks the channel, so that a bot does not take the messages for chat.
  static let subprotocol = "chatbot-check"
  /// The size of a message in bytes; the first 12 are a mark and the number.
  private static let messageBytes = 1_000
  private static let mark: UInt32 = 0x6368_6B31
  /// How often messages are sent.
  private static let interval = Duration.milliseconds(20)

  /// The number of peers that are measured; a check judges fewer.
  private static let maximumPeers = 256

  private let bitrate: Int
  private let loop: any EventLoop
  private let state = Mutex(State())

  private struct State {
    var trackers: [ParticipantID: DataEchoTracker] = [:]
    var running: Set<ParticipantID> = []
  }

  private let start = ContinuousClock.now

  /// - Parameters:
  ///   - bitrate: the payload to each peer in bits a second.
  ///   - loop: the event loop of its timers.
  package init(bitrate: Int, on loop: any EventLoop) {
    self.bitrate = bitrate
    self.loop = loop
  }

  private func seconds(_ now: ContinuousClock.Instant = .now) -> Double { (now - start) / .seconds(1) }

  /// Begins with a peer; has no effect the second time, unless the connection has ended meanwhile.
  ///
  /// - Returns: whether ``run(with:of:)`` must be called.
  package func begin(with participant: ParticipantID) -> Bool {
    state.withLock { state in
      guard state.trackers[participant] != nil || state.trackers.count < Self.maximumPeers,
        state.running.insert(participant).inserted
      else { return false }
      state.trackers[participant] = state.trackers[participant] ?? DataEchoTracker()
      return true
    }
  }

  /// Records that the connection to a peer has ended. With the next one, the counts continue.
  package func ended(with participant: ParticipantID) {
    state.withLock { _ = $0.running.remove(participant) }
  }

  /// The counts of a peer; nil if there is none.
  package func report(of participant: ParticipantID) -> DataReport? {
    state.withLock { $0.trackers[participant]?.report(at: seconds()) }
  }

  /// The counts of each peer.
  package var reports: [DataReport] {
    state.withLock { $0.trackers.values.map { $0.report(at: seconds()) } }
  }

  /// Sends and counts until the channel is closed or the task is cancelled.
  package func run(with participant: ParticipantID, of peer: Peer) async {
    let asked = ContinuousClock.now
    let channel = peer.openDataChannel(
      DataChannelConfiguration(label: "check", subprotocol: Self.subprotocol), to: participant)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await message in channel.messages { self.received(message, from: participant) }
      }
      group.addTask { await self.send(on: channel, asked: asked) }
      await group.next()
      group.cancelAll()
    }
    channel.close()
  }

  private func send(on channel: DataChannel, asked: ContinuousClock.Instant) async {
    var budget = 0.0
    var last = ContinuousClock.now
    while !Task.isCancelled, channel.state != .closed {
      try? await loop.sleep(for: Self.interval)
      let now = ContinuousClock.now
      guard channel.state == .open else {
        last = now
        continue
      }
      change(channel.participant) { $0.opened(after: (now - asked) / .seconds(1)) }
      budget = min(budget + Double(bitrate) / 8 * ((now - last) / .seconds(1)), Double(bitrate) / 8)
      last = now
      while budget >= Double(Self.messageBytes), channel.bufferedAmount < DataChannel.bufferedAmountLimit,
        let number = change(channel.participant, { $0.send(at: self.seconds()) }) ?? nil
      {
        budget -= Double(Self.messageBytes)
        var bytes = ByteBuffer(integer: Self.mark)
        bytes.writeInteger(number)
        bytes.writeRepeatingByte(0, count: Self.messageBytes - bytes.readableBytes)
        do { try channel.enqueue(.binary(bytes)) } catch { return }
      }
    }
  }

  private func received(_ message: DataChannelMessage, from participant: ParticipantID) {
    guard case .binary(var bytes) = message, bytes.readableBytes == Self.messageBytes,
      bytes.readInteger(as: UInt32.self) == Self.mark, let number = bytes.readInteger(as: UInt64.self)
    else { return }
    change(participant) { $0.returned(number, bytes: Self.messageBytes, at: seconds()) }
  }

  @discardableResult
  private func change<Answer: Sendable>(
    _ participant: ParticipantID, _ change: (inout DataEchoTracker) -> Answer
  ) -> Answer? {
    state.withLock { state in
      guard var tracker = state.trackers[participant] else { return nil }
      let result = change(&tracker)
      state.trackers[participant] = tracker
      return result
    }
  }
}
