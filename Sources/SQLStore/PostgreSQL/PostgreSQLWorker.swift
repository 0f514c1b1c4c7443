internal import Glibc
internal import Media

/// A thread of ``PostgreSQLConnection`` with its session. What it is asked is tried again here.
final class PostgreSQLWorker {
  private let pool: PostgreSQLPool
  private var session: PostgreSQLSession?

  private var limits: PostgreSQLSettings.Limits { pool.settings.limits }

  /// The maximum number of times that a transaction is tried which others are in the way of.
  private static let maximumTries = 12

  init(_ pool: PostgreSQLPool) { self.pool = pool }

  func disconnect() { session = nil }

  /// Returns a session that seems to live.
  ///
  /// - Parameter deadline: until when the caller waits.
  private func connected(until deadline: MonotonicInstant) throws(SQLError) -> PostgreSQLSession {
    if let session, session.generation == pool.generation, session.isAlive { return session }
    session = nil
    while true {
      switch pool.turn(until: deadline, .now) {
      case .fail(let error): throw error
      case .wait(let time): pool.wait(time)
      case .connect(let generation):
        do throws(SQLError) {
          let session = try PostgreSQLSession(pool.settings, generation: generation)
          pool.connected()
          self.session = session
          return session
        } catch {
          pool.connectionFailed(error, .now)
          if MonotonicInstant.now >= deadline { throw error }
        }
      }
    }
  }

  private func drop(_ session: PostgreSQLSession) {
    pool.connectionLost(session.generation)
    self.session = nil
  }

  private static func pause(_ attempt: Int, until deadline: MonotonicInstant) -> Bool {
    let pause = Duration.milliseconds(2) * Double(1 << min(attempt, 7)) * Double.random(in: 0.5...1)
    guard MonotonicInstant.now + pause < deadline else { return false }
    usleep(useconds_t(clamping: pause.attoseconds / 1_000_000_000_000))
    return true
  }

  /// - Parameter start: when the caller began to wait.
  func execute(_ statement: String, _ parameters: [SQLValue], _ start: MonotonicInstant) throws -> [SQLRow] {
    let deadline = try deadline(start)
    var attempt = 0
    while true {
      attempt += 1
      let session = try connected(until: start + limits.patience)
      session.deadline = deadline
      do {
        return try session.execute(statement, parameters)
      } catch {
        switch session.fault {
        case .conflict? where attempt < Self.maximumTries && Self.pause(attempt, until: deadline): continue
        case .lost?:
          drop(session)
          // A reading statement may be repeated.
          if attempt == 1, statement.hasPrefix("SELECT"), MonotonicInstant.now < start + limits.patience { continue }
          throw error
        default: throw error
        }
      }
    }
  }

  /// - Parameter start: when the caller began to wait.
  func transaction<Result>(
    _ body: (any SQLTransaction) throws -> Result, _ start: MonotonicInstant
  ) throws -> Result {
    let deadline = try deadline(start)
    var attempt = 0
    var losses = 0
    while true {
      attempt += 1
      let session = try connected(until: start + limits.patience)
      session.deadline = deadline
      var isCommitting = false
      do {
        try session.begin()
        let result = try body(session)
        // The transaction of a body that went on after an error must not be committed, and may be tried again.
        isCommitting = session.fault == nil
        try session.commit()
        return result
      } catch {
        switch session.fault {
        case .conflict?:
          session.rollBack()
          if session.fault == .lost { drop(session) }
          if attempt < Self.maximumTries, Self.pause(attempt, until: deadline) { continue }
        case .lost?:
          drop(session)
          losses += 1
          // Whether a transaction was committed whose answer is missing is not known.
          if !isCommitting, losses <= 2, MonotonicInstant.now < start + limits.patience { continue }
        case nil:
          session.rollBack()
          if session.fault == .lost { drop(session) }
        }
        throw error
      }
    }
  }

  /// When the work must have ended.
  ///
  /// - Throws: an `SQLError` if the caller has waited for too long already.
  private func deadline(_ start: MonotonicInstant) throws(SQLError) -> MonotonicInstant {
    guard MonotonicInstant.now < start + limits.patience else {
      throw pool.problem ?? SQLError(.busy, "All connections to the database were in use for too long.")
    }
    return start + limits.transaction
  }
}
