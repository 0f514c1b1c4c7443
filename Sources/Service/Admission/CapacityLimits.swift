internal import SQLStore

enum CapacityLimits {
  /// What the jobs of a service may use of a machine.
  static func of(_ configuration: ServiceConfiguration, on machine: MachineLimits) -> CapacityAccounts<JobID>.Limits {
    func part(_ amount: Int64, _ percent: Int) -> Int64 {
      Int64(clampingRounded: Double(amount) * Double(percent) / 100)
    }
    let limits = configuration.limits
    return CapacityAccounts<JobID>.Limits(
      processors: part(machine.processors, limits.cpu),
      memory: machine.memory.map { part($0, limits.memory) } ?? .max,
      udpPorts: configuration.media.udpPorts.map { max(part(Int64($0.count), limits.udpPorts), 1) },
      minimumFreeDisk: configuration.minimumFreeForJobs)
  }
}
