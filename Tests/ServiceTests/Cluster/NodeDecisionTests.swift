import Media
import SQLStore
import Service
import Testing

@Suite("What a node decides, on a simulated clock")
struct NodeDecisionTests {
  private let start = MonotonicInstant(sinceOrigin: .seconds(1_000))

  private func at(_ seconds: Double) -> MonotonicInstant { start + .seconds(seconds) }

  // MARK: The database

  @Test("a node at rest renews each 10 s and looks each 2 s, which is less than two statements a second")
  func rest() {
    var presence = NodePresence(at: start)
    var (renewals, looks) = (0, 0)
    for tick in 0..<300 {
      let now = at(Double(tick) / 5)
      for duty in presence.due(at: now) {
        if duty == .renew { renewals += 1 } else { looks += 1 }
        presence.reached(at: now)
      }
    }
    #expect(renewals == 6)
    #expect(looks == 30)
    // A renewal is two statements.
    #expect(Double(2 * renewals + looks) / 60 < 2)
  }

  @Test("a node looks at once when something is announced, and twice a second when something always is")
  func announcements() {
    var presence = NodePresence(at: start)
    func looks(at seconds: Double) -> Bool {
      presence.lookSoon(at: at(seconds))
      let isDue = presence.due(at: at(seconds)).contains(.look)
      presence.reached(at: at(seconds))
      return isDue
    }
    #expect(presence.due(at: start).contains(.look))
    #expect(looks(at: 1))
    let count = (0..<50).count { looks(at: 1.2 + Double($0) / 5) }
    #expect((15...20).contains(count))
  }

  @Test(
    "a node that cannot reach the database tries each 2 s, and takes nothing over for 30 s after it reached it again")
  func outage() {
    var presence = NodePresence(at: start)
    _ = presence.due(at: start)
    presence.reached(at: start)
    #expect(!presence.mayTakeOver(at: at(29)))
    #expect(presence.mayTakeOver(at: at(30)))
    presence.failed(at: at(31))
    #expect(presence.isCutOff)
    #expect(!presence.mayTakeOver(at: at(100)))
    var tries = 0
    for second in 31..<91 {
      for duty in presence.due(at: at(Double(second))) {
        #expect(duty == .renew)
        tries += 1
        presence.failed(at: at(Double(second)))
      }
    }
    #expect((29...31).contains(tries))
    presence.reached(at: at(92))
    // Its own leases come first.
    #expect(presence.due(at: at(92)) == [.renew, .look])
    #expect(!presence.isCutOff && !presence.mayTakeOver(at: at(121)))
    #expect(presence.mayTakeOver(at: at(122)))
    // Each node gets the time to look at what became due.
    #expect(!presence.mayEndWaits(at: at(101)) && presence.mayEndWaits(at: at(102)))
  }

  @Test("a node that was suspended is as one that was cut off")
  func suspended() {
    var presence = NodePresence(at: start)
    presence.reached(at: at(40))
    #expect(!presence.mayTakeOver(at: at(41)))
    presence.reached(at: at(60))
    #expect(presence.mayTakeOver(at: at(70)))
  }

  @Test("the clock of a node is compared by the fastest request of the last ones")
  func clock() {
    var clock = NodeClock()
    #expect(clock.best == nil)
    clock.add(sent: 1_000, received: 1_100, database: 900)
    #expect(clock.best == NodeClock.Estimate(offset: 150, error: 51))
    clock.add(sent: 2_000, received: 2_004, database: 1_900)
    #expect(clock.best == NodeClock.Estimate(offset: 102, error: 3))
    // A clock that was set back, and times that no clock has.
    clock.add(sent: 2_000, received: 1_000, database: 0)
    clock.add(sent: .min, received: .max, database: 0)
    clock.add(sent: .max, received: .max, database: .min)
    #expect(clock.best?.offset == 102)
    for _ in 0..<12 { clock.add(sent: 0, received: 20, database: 0) }
    #expect(clock.best == NodeClock.Estimate(offset: 10, error: 11))
  }

  // MARK: Attempts that leave

  @Test("a superseded process is asked to stop at once, and has ended within 15 s whatever it does")
  func superseded() {
    var (attempt, actions) = LeavingAttempt.begin(.superseded, needsVideo: true, isConnected: true, at: start)
    #expect(actions == [.sendStop])
    var signals: [(EndingSignal, Double)] = []
    for tick in 0..<75 {
      let now = at(Double(tick) / 5)
      guard let deadline = attempt.deadline, deadline <= now else { continue }
      for case .signal(let signal) in attempt.receive(.time, at: now) { signals.append((signal, Double(tick) / 5)) }
    }
    #expect(signals.map(\.0) == [.abort, .kill])
    #expect(signals.map(\.1) == [10, 13])
    #expect(attempt.receive(.processDied, at: at(13.1)) == [.store])
    #expect(attempt.receive(.time, at: at(20)).isEmpty && attempt.deadline == nil)

    // One that nobody can speak to gets SIGTERM first, and is asked when it can be.
    (attempt, actions) = LeavingAttempt.begin(.superseded, needsVideo: true, isConnected: false, at: start)
    #expect(actions.isEmpty)
    #expect(attempt.deadline == at(2))
    #expect(attempt.receive(.time, at: at(2)) == [.signal(.terminate)])
    #expect(attempt.receive(.connected, at: at(3)) == [.sendStop])
    #expect(attempt.deadline == at(10))
  }

  @Test("an attempt that is handed over leaves when the successor has video of all who send some")
  func handedOver() {
    var (attempt, actions) = LeavingAttempt.begin(.handedOver, needsVideo: true, isConnected: true, at: start)
    #expect(actions.isEmpty)
    // Before the process has said who sends, nobody is known to be complete.
    #expect(attempt.receive(.successor(hasJoined: true, keyframes: [], isOver: false), at: at(0.5)).isEmpty)
    #expect(attempt.receive(.sending(["anna", "bert"]), at: at(1)).isEmpty)
    let steps: [(Bool, Set<String>)] = [(false, []), (true, []), (true, ["anna"]), (true, ["anna", "carl"])]
    for (joined, keyframes) in steps {
      let event = LeavingAttempt.Event.successor(hasJoined: joined, keyframes: keyframes, isOver: false)
      #expect(attempt.receive(event, at: at(2)).isEmpty)
    }
    // Somebody who stopped sending is not waited for.
    #expect(attempt.receive(.sending(["anna"]), at: at(3)).isEmpty)
    let last = LeavingAttempt.Event.successor(hasJoined: true, keyframes: ["anna"], isOver: false)
    #expect(attempt.receive(last, at: at(3)) == [.sendStop])
    // It may finish its files.
    #expect(attempt.receive(.time, at: at(30)).isEmpty)
    #expect(attempt.receive(.processDied, at: at(40)) == [.store])
  }

  @Test("an attempt that is handed over leaves after 20 s at last, and at once when the job ends")
  func handoverLimits() {
    var (attempt, _) = LeavingAttempt.begin(.handedOver, needsVideo: true, isConnected: true, at: start)
    _ = attempt.receive(.sending(["anna"]), at: at(1))
    #expect(attempt.receive(.time, at: at(19)).isEmpty)
    #expect(attempt.deadline == at(20))
    #expect(attempt.receive(.time, at: at(20)) == [.sendStop])

    (attempt, _) = LeavingAttempt.begin(.handedOver, needsVideo: true, isConnected: true, at: start)
    #expect(
      attempt.receive(.successor(hasJoined: false, keyframes: [], isOver: true), at: at(1)) == [.sendStop])
    // Jobs that do not record need only the successor.
    (attempt, _) = LeavingAttempt.begin(.handedOver, needsVideo: false, isConnected: true, at: start)
    _ = attempt.receive(.sending(["anna"]), at: at(1))
    #expect(
      attempt.receive(.successor(hasJoined: true, keyframes: [], isOver: false), at: at(1)) == [.sendStop])
    // A process that ends by itself meanwhile is stored.
    (attempt, _) = LeavingAttempt.begin(.handedOver, needsVideo: true, isConnected: true, at: start)
    #expect(attempt.receive(.processDied, at: at(1)) == [.store])
  }

  // MARK: Drain

  private let jobs = [JobID("a1"), JobID("b2")].compactMap(\.self)

  @Test("a node that ends lets jobs run on, then offers them, and ends those that no node takes")
  func draining() {
    var drain = NodeDrain(deadline: at(600), isEnding: true)
    var own = [NodeDrain.RunningJob(id: jobs[0], isMovable: true), NodeDrain.RunningJob(id: jobs[1], isMovable: true)]
    #expect(drain.next(own, hasSuccessor: true, at: at(599)).isEmpty)
    #expect(drain.next(own, hasSuccessor: true, at: at(600)) == [.offer(jobs[0]), .offer(jobs[1])])
    #expect(drain.next(own, hasSuccessor: true, at: at(601)).isEmpty)
    #expect(drain.offers == jobs)
    // One is taken.
    own.removeFirst()
    #expect(drain.next(own, hasSuccessor: true, at: at(614)).isEmpty)
    #expect(drain.next(own, hasSuccessor: true, at: at(615)) == [.withdraw(jobs[1]), .end(jobs[1])])
    #expect(drain.next(own, hasSuccessor: true, at: at(1_000)).isEmpty)
  }

  @Test("a job that another node has taken at the end of its offer is handed over, and neither ended nor offered again")
  func takenLate() {
    var drain = NodeDrain(deadline: at(0), isEnding: true)
    let own = [NodeDrain.RunningJob(id: jobs[0], isMovable: true)]
    #expect(drain.next(own, hasSuccessor: true, at: at(0)) == [.offer(jobs[0])])
    #expect(drain.next(own, hasSuccessor: true, at: at(15)) == [.withdraw(jobs[0]), .end(jobs[0])])
    #expect(!drain.isOffered(jobs[0]))
    drain.wasTaken(jobs[0])
    #expect(drain.isOffered(jobs[0]))
    #expect(drain.next(own, hasSuccessor: true, at: at(100)).isEmpty)
  }

  @Test("a job whose process is about to start is offered when it runs, and ends if it does not start in time")
  func beginning() {
    var drain = NodeDrain(deadline: at(0), isEnding: true)
    var own = jobs.map { NodeDrain.RunningJob(id: $0, isMovable: false, isBeginning: true) }
    #expect(drain.next(own, hasSuccessor: true, at: at(0)).isEmpty)
    own[0] = NodeDrain.RunningJob(id: jobs[0], isMovable: true)
    #expect(drain.next(own, hasSuccessor: true, at: at(8)) == [.offer(jobs[0])])
    #expect(drain.next([own[1]], hasSuccessor: true, at: at(15)) == [.end(jobs[1])])
    drain = NodeDrain(deadline: at(0), isEnding: true)
    #expect(drain.next([own[1]], hasSuccessor: false, at: at(0)) == [.end(jobs[1])])
  }

  @Test("without another node jobs end in order, as do those that cannot be moved")
  func drainingAlone() {
    var drain = NodeDrain(deadline: at(0), isEnding: true)
    #expect(drain.next([.init(id: jobs[0], isMovable: true)], hasSuccessor: false, at: at(0)) == [.end(jobs[0])])
    #expect(
      drain.next(
        [.init(id: jobs[0], isMovable: true), .init(id: jobs[1], isMovable: false)], hasSuccessor: true, at: at(1))
        == [.end(jobs[1])])
  }

  @Test("a node that only drains ends nothing: it offers again, until it ends itself")
  func operatorDrain() {
    var drain = NodeDrain(deadline: at(0), isEnding: false)
    let own = [NodeDrain.RunningJob(id: jobs[0], isMovable: true)]
    #expect(drain.next(own, hasSuccessor: false, at: at(0)).isEmpty)
    #expect(drain.next(own, hasSuccessor: true, at: at(1)) == [.offer(jobs[0])])
    #expect(drain.next(own, hasSuccessor: true, at: at(16)) == [.withdraw(jobs[0])])
    #expect(drain.next(own, hasSuccessor: true, at: at(75)).isEmpty)
    #expect(drain.next(own, hasSuccessor: true, at: at(76)).isEmpty)
    #expect(drain.next(own, hasSuccessor: true, at: at(77)) == [.offer(jobs[0])])
    #expect(drain.next(own, hasSuccessor: true, at: at(92)) == [.withdraw(jobs[0])])
    drain.end(deadline: at(100))
    #expect(drain.next(own, hasSuccessor: true, at: at(99)).isEmpty)
    #expect(drain.next(own, hasSuccessor: true, at: at(100)) == [.end(jobs[0])])
  }
}
