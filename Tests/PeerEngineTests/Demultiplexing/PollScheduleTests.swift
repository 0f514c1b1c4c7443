import Media
import PeerEngineTestSupport
import TestSupport
import Testing

@testable import PeerEngine

@Suite("When the engines are polled")
struct PollScheduleTests {
  @Test(
    "a heap of deadlines has what a scan finds, whatever is added, set and removed",
    arguments: 1...20 as ClosedRange<UInt64>)
  func heap(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var heap = DeadlineHeap<Int>()
    var items: [(id: Int, slot: Int, due: MonotonicInstant?)] = []
    var now = MonotonicInstant.now
    var mistakes = 0
    for id in 0..<2_000 {
      let index = items.indices.randomElement(using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0..<3:
        items.append((id, heap.add(id), nil))
      case 3:
        if let index { heap.remove(items.remove(at: index).slot) }
      case 4:
        now += .milliseconds(Int.random(in: 0...10, using: &generator))
        var taken: [Int] = []
        while let id = heap.takeDue(now: now) { taken.append(id) }
        let due = items.filter { $0.due.map { $0 <= now } ?? false }
        if taken.sorted() != due.map(\.id).sorted() { mistakes += 1 }
        let times = taken.compactMap { id in items.first { $0.id == id }?.due }
        if times != times.sorted() { mistakes += 1 }
        for index in items.indices where taken.contains(items[index].id) { items[index].due = nil }
      default:
        guard let index else { break }
        // Many deadlines are equal, and some have passed.
        let isSet = Int.random(in: 0..<8, using: &generator) > 0
        let due = isSet ? now + .milliseconds(Int.random(in: -3...30, using: &generator)) : nil
        items[index].due = due
        heap.set(due, of: items[index].slot)
      }
      if heap.earliest != items.compactMap(\.due).min() || heap.count != items.count { mistakes += 1 }
    }
    #expect(mistakes == 0)
    #expect(items.count > 20)
  }

  @Test("after each turn the demultiplexer has what a scan of its engines finds", arguments: [1, 2, 3] as [UInt64])
  func scan(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let call = DemultiplexerCall(seed: seed, sending: [.audio, .video])
    var media = SyntheticMedia(seed: seed, start: call.now)
    let names = (0..<6).map { "guest \($0)" }
    var wasUrgent = 0
    var wasConnecting = 0
    for step in 0..<80 {
      let number = Int.random(in: names.indices, using: &generator)
      let id = ParticipantID(names[number])
      switch Int.random(in: 0..<12, using: &generator) {
      case 0...2: try call.enter(names[number], host: UInt8(number + 1))
      case 3: call.play(names[number], seed: UInt64(step))
      case 4: call.participantLeft(names[number])
      case 5: call.demultiplexer.disconnect(id, because: CloseReason(.closedByUs, "Enough."), now: call.now)
      case 6: call.demultiplexer.requestKeyframe(of: nil, now: call.now)
      case 7: call.demultiplexer.restartICE(of: id)
      case 8: call.demultiplexer.send(media.videoFrame(), to: names.map { ParticipantID($0) }, now: call.now)
      case 9: call.guests[id]?.speaks.toggle()
      default: break
      }
      call.run(for: .milliseconds(Int.random(in: 1...150, using: &generator)))
      expectScanned(call)
      if call.demultiplexer.isUrgent { wasUrgent += 1 }
      if call.demultiplexer.isConnecting { wasConnecting += 1 }
    }
    #expect(wasUrgent > 0 && wasConnecting > 0)
    for name in names {
      call.demultiplexer.disconnect(ParticipantID(name), because: CloseReason(.closedByUs, "The end."), now: call.now)
    }
    call.run(for: .milliseconds(1))
    expectScanned(call)
    #expect(call.demultiplexer.schedule.count == 0)
    #expect(!call.demultiplexer.isUrgent && !call.demultiplexer.isConnecting)
  }

  private func expectScanned(_ call: DemultiplexerCall) {
    let demultiplexer = call.demultiplexer
    let engines = demultiplexer.engines.values
    let now = call.now
    let due = (engines.compactMap(\.pollState.due) + [demultiplexer.rateLimiters.deadline].compactMap(\.self)).min()
    #expect(demultiplexer.deadline == due)
    #expect(demultiplexer.isUrgent == engines.contains { $0.pollState.isUrgent })
    #expect(demultiplexer.isConnecting == engines.contains { $0.pollState.isPrompt(now: now) })
    #expect(demultiplexer.schedule.count == engines.count)
  }
}
