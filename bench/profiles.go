package main

import (
	"errors"
	"flag"
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles are what go tool pprof reads, of the whole run.
type profiles struct {
	cpu, mem, mutex, block string
	cpuFile                *os.File
}

func (p *profiles) flags(f *flag.FlagSet) {
	f.StringVar(&p.cpu, "cpuprofile", "", "write a profile of CPU time to this file")
	f.StringVar(&p.mem, "memprofile", "", "write a profile of allocations to this file")
	f.StringVar(&p.mutex, "mutexprofile", "", "write a profile of contended mutexes to this file")
	f.StringVar(&p.block, "blockprofile", "", "write a profile of blocking to this file")
}

func (p *profiles) start() (err error) {
	if p.mutex != "" {
		runtime.SetMutexProfileFraction(10)
	}
	if p.block != "" {
		runtime.SetBlockProfileRate(1000)
	}
	if p.cpu == "" {
		return nil
	}
	if p.cpuFile, err = os.Create(p.cpu); err != nil {
		return err
	}
	return pprof.StartCPUProfile(p.cpuFile)
}

func (p *profiles) stop() error {
	var failed error
	if p.cpuFile != nil {
		pprof.StopCPUProfile()
		failed = p.cpuFile.Close()
	}
	for name, path := range map[string]string{"allocs": p.mem, "mutex": p.mutex, "block": p.block} {
		if path == "" {
			continue
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		failed = errors.Join(failed, pprof.Lookup(name).WriteTo(f, 0), f.Close())
	}
	return failed
}
