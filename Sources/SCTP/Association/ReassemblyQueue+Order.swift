import NIOCore

extension ReassemblyQueue {
  /// Delivers a complete message, or keeps it until earlier ones of its stream are delivered.
  ///
  /// - Parameter payload: nil if the message was too large.
  mutating func deliver(_ chunk: DataChunk, payload: ByteBuffer?) -> [Delivery] {
    let message = payload.map {
      SCTPMessage(
        stream: chunk.stream, protocolID: chunk.protocolID, payload: $0, isUnordered: chunk.isUnordered)
    }
    guard !chunk.isUnordered else { return [Self.delivery(message, stream: chunk.stream)] }
    if streams[chunk.stream] == nil {
      guard streams.count < SCTPLimits.maximumStreams else {
        refusedMessages += 1
        return []
      }
      streams[chunk.stream] = Stream()
    }
    let next = streams[chunk.stream]?.next ?? 0
    let distance = Int16(bitPattern: chunk.streamSequenceNumber &- next)
    guard distance >= 0, streams[chunk.stream]?.waiting[chunk.streamSequenceNumber] == nil else {
      staleMessages += 1
      return []
    }
    if distance > 0 {
      streams[chunk.stream]?.waiting[chunk.streamSequenceNumber] = .some(message)
      heldBytes += Self.cost(of: message)
      return []
    }
    streams[chunk.stream]?.next &+= 1
    return [Self.delivery(message, stream: chunk.stream)] + takeConsecutive(of: chunk.stream)
  }

  private mutating func takeConsecutive(of stream: UInt16) -> [Delivery] {
    var deliveries: [Delivery] = []
    while let next = streams[stream]?.next, let message = streams[stream]?.waiting.removeValue(forKey: next) {
      heldBytes -= Self.cost(of: message)
      deliveries.append(Self.delivery(message, stream: stream))
      streams[stream]?.next &+= 1
    }
    return deliveries
  }

  private static func cost(of message: SCTPMessage?) -> Int {
    (message?.payload.readableBytes ?? 0) + SCTPLimits.entryOverhead
  }

  private static func delivery(_ message: SCTPMessage?, stream: UInt16) -> Delivery {
    message.map { .message($0) } ?? .tooLarge(stream: stream)
  }

  /// The sender has abandoned all chunks up to `tsn`; returns the messages that no longer wait for them.
  mutating func skip(to tsn: Int64, _ skipped: [ForwardTSNChunk.Skipped]) -> [Delivery] {
    var removed = 0
    while removed < runs.count, runs[removed].tsns.lowerBound <= tsn {
      heldBytes -= runs[removed].cost
      removed += 1
    }
    visits += removed > 0 ? runs.count : 0
    runs.removeFirst(removed)
    skippedMessages += removed
    var deliveries: [Delivery] = []
    for entry in Self.last(of: skipped) {
      if streams[entry.stream] == nil {
        guard streams.count < SCTPLimits.maximumStreams else { continue }
        streams[entry.stream] = Stream()
      }
      deliveries += skipMessages(of: entry.stream, through: entry.streamSequenceNumber)
    }
    return deliveries
  }

  /// The last skipped message of each stream, so that the messages of a stream are looked at once.
  private static func last(of skipped: [ForwardTSNChunk.Skipped]) -> [ForwardTSNChunk.Skipped] {
    var positions: [UInt16: Int] = [:]
    var merged: [ForwardTSNChunk.Skipped] = []
    for entry in skipped {
      guard let known = positions[entry.stream] else {
        positions[entry.stream] = merged.count
        merged.append(entry)
        continue
      }
      if Int16(bitPattern: entry.streamSequenceNumber &- merged[known].streamSequenceNumber) > 0 {
        merged[known] = entry
      }
    }
    return merged
  }

  private mutating func skipMessages(of stream: UInt16, through last: UInt16) -> [Delivery] {
    guard let next = streams[stream]?.next, Int16(bitPattern: last &- next) >= 0 else { return [] }
    // Complete messages among the skipped ones are delivered.
    var deliveries: [Delivery] = []
    visits += min(Int(last &- next) + 1, streams[stream]?.waiting.count ?? 0)
    for number in waitingNumbers(of: stream, from: next, through: last) {
      guard let message = streams[stream]?.waiting.removeValue(forKey: number) else { continue }
      heldBytes -= Self.cost(of: message)
      deliveries.append(Self.delivery(message, stream: stream))
    }
    streams[stream]?.next = last &+ 1
    return deliveries + takeConsecutive(of: stream)
  }

  /// Returns the sequence numbers of waiting messages in a range, in order.
  private func waitingNumbers(of stream: UInt16, from next: UInt16, through last: UInt16) -> [UInt16] {
    guard let waiting = streams[stream]?.waiting, !waiting.isEmpty else { return [] }
    let length = last &- next
    // Whichever is shorter is searched: the range or the messages.
    if Int(length) < waiting.count { return (0...length).map { next &+ $0 }.filter { waiting[$0] != nil } }
    return waiting.keys.filter { $0 &- next <= length }.sorted { $0 &- next < $1 &- next }
  }

  /// The sender has reset streams, or all if nil: their next message has sequence number 0.
  mutating func reset(_ reset: [UInt16]?) {
    for stream in reset ?? Array(streams.keys) {
      visits += 1
      guard let entry = streams.removeValue(forKey: stream) else { continue }
      visits += entry.waiting.count
      for message in entry.waiting.values { heldBytes -= Self.cost(of: message) }
    }
  }
}
